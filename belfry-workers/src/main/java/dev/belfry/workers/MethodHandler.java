package dev.belfry.workers;

/** Implements a method of a worker. */
@FunctionalInterface
public interface MethodHandler {
  /**
   * Handles a call. If it throws, the call fails, and the caller gets the exception as text.
   *
   * @return the answer
   */
  byte[] handle(Request request) throws Exception;
}
