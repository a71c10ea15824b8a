package dev.belfry.bench.call;

/** Somebody who calls, on one thread. */
@FunctionalInterface
interface Caller {
  /** How long a payload is if nothing else is said. */
  int BYTES = 64;

  /** Calls and waits for the answer, which is a copy of the payload. */
  byte[] call(byte[] payload) throws Exception;
}
