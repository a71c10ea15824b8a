package dev.belfry.admin;

/** What a failure of the program says, for the log. */
final class FailureText {
  private FailureText() {}

  /** It is somebody else's class, and may fail at that too. */
  static String of(Throwable failure) {
    try {
      return "" + failure;
    } catch (Throwable another) {
      return failure.getClass().getName();
    }
  }
}
