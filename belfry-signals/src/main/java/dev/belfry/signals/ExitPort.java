package dev.belfry.signals;

/**
 * How the process ends. The library ends it here and nowhere else, so that a test can watch. A port
 * that returns, as a test's does, lets everything start over; until then the JVM is kept alive.
 */
public interface ExitPort {
  /** Ends with the JVM's shutdown hooks, which may take their time or hang. */
  void exit(int code);

  /** Ends at once, whatever hangs. */
  void halt(int code);
}
