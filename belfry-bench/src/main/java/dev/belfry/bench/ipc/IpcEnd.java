package dev.belfry.bench.ipc;

/**
 * One end of a connection, which lasts as long as its process. Each message begins with a number,
 * so that none is lost unnoticed.
 */
interface IpcEnd {
  /** Sends a message that begins with a number, waiting as long as it takes. */
  void send(long number) throws Exception;

  /** Waits for a message; returns the number it begins with. */
  long receive() throws Exception;

  /**
   * Receives some messages, at least one.
   *
   * @param expected the number of the first
   * @return the number after the last
   */
  default long receiveSome(long expected) throws Exception {
    check(receive(), expected);
    return expected + 1;
  }

  /** Sends what was held back for a larger batch. */
  default void flush() throws Exception {}

  /**
   * The size of the ring or log in each direction. Where messages are answered one by one it is
   * small enough to stay in the processors' caches; elsewhere it is larger than one processor's
   * cache, because lines that the other processor still holds in its cache take longest to
   * overwrite.
   */
  static int bufferBytes(boolean answered) {
    return answered ? 1 << 20 : 1 << 23;
  }

  static void check(long found, long expected) {
    if (found != expected) {
      throw new IllegalStateException("message %d instead of %d".formatted(found, expected));
    }
  }
}
