package dev.belfry.signals;

/** An exception of somebody who cannot even say what went wrong. */
final class Unspeakable extends RuntimeException {
  private static final long serialVersionUID = 1L;

  @Override
  public String getMessage() {
    throw new IllegalStateException("no words");
  }
}
