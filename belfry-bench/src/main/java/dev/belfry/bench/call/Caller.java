package dev.belfry.bench.call;

/** Makes calls, on one thread. */
@FunctionalInterface
interface Caller {
  /** The default length of a payload. */
  int BYTES = 64;

  /** Calls and waits for the answer, which is a copy of the payload. */
  byte[] call(byte[] payload) throws Exception;
}
