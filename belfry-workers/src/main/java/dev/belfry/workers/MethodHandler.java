package dev.belfry.workers;

/** What a worker does when one of its methods is called. */
@FunctionalInterface
public interface MethodHandler {
  /**
   * Answers a call. What it throws goes to the caller as text.
   *
   * @return the bytes of the answer
   */
  byte[] handle(Request request) throws Exception;
}
