package dev.belfry.signals;

/**
 * Ends the process. The library exits only through this port, so that tests can observe it. When a
 * call returns, as a test's does, the shutdown is over and another may begin; until then the JVM is
 * kept alive.
 */
public interface ExitPort {
  /** Exits after running the JVM's shutdown hooks, which may be slow or hang. */
  void exit(int code);

  /** Exits immediately, without shutdown hooks. */
  void halt(int code);
}
