package dev.belfry.signals;

/** An exception that cannot be converted to text. */
final class Unspeakable extends RuntimeException {
  private static final long serialVersionUID = 1L;

  @Override
  public String getMessage() {
    throw new IllegalStateException("no words");
  }
}
