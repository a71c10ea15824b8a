package dev.belfry.signals;

/** Something done at the end of a process. */
@FunctionalInterface
public interface Cleanup {
  /** Runs at most once. If it throws, that is logged and the next one runs all the same. */
  void run() throws Exception;
}
