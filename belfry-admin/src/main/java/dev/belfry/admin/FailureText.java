package dev.belfry.admin;

/** The text of an exception from the program's code, for the log. */
final class FailureText {
  private FailureText() {}

  /** The exception as text, or its class name if its {@code toString} itself throws. */
  static String of(Throwable failure) {
    try {
      return "" + failure;
    } catch (Throwable another) {
      return failure.getClass().getName();
    }
  }
}
