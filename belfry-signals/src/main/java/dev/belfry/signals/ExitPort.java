package dev.belfry.signals;

/**
 * How the process ends. The library ends it here and nowhere else, so that a test can look on. A
 * port that returns, as a test's does, lets everything begin anew.
 */
public interface ExitPort {
  /** Ends with the JVM's shutdown hooks, which may take their time or hang. */
  void exit(int code);

  /** Ends at once, whatever hangs. */
  void halt(int code);
}
