package dev.belfry.shm;

import java.lang.foreign.MemorySegment;

/** Something in shared memory that can be waited for; see {@link Waiter}. */
interface Awaitable {
  /** Whether it has happened. */
  boolean isReady();

  /** Whether it will not happen any more. */
  boolean isOver();

  /** The word to sleep on. */
  MemorySegment word();

  /**
   * Gets ready to sleep: from now on, whoever makes it happen changes the word, or wakes. The
   * condition has to be tested once more after this call.
   *
   * @return the value that the word has until then
   */
  int arm();

  /**
   * Names the words to sleep on, with their values; the value that {@link #arm} gave belongs to the
   * first.
   */
  default void words(int expected, Room.Words words) {
    words.sleepOn(word(), expected);
  }

  /** Sleeps while the word has the value that {@link #arm} gave. */
  default WaitResult sleep(FutexWait futex, int expected, long untilNanos) {
    return futex.await(word(), expected, untilNanos);
  }
}
