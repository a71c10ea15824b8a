package dev.belfry.shm;

import java.lang.foreign.MemorySegment;

/** An event in shared memory that a {@link Waiter} can wait for. */
interface Awaitable {
  /** Whether the event has happened. */
  boolean isReady();

  /** Whether the event can no longer happen. */
  boolean isOver();

  /** The word to sleep on. */
  MemorySegment word();

  /**
   * Prepares for sleep: from now on the side that makes the event happen changes the word or wakes.
   * The condition must be tested again after this call.
   *
   * @return the value that the word has until then
   */
  int arm();

  /**
   * Names the words to sleep on, with their values; the value that {@link #arm} returned belongs to
   * the first.
   */
  default void words(int expected, Room.Words words) {
    words.sleepOn(word(), expected);
  }

  /** Sleeps while the word has the value that {@link #arm} returned. */
  default WaitResult sleep(FutexWait futex, int expected, long untilNanos) {
    return futex.await(word(), expected, untilNanos);
  }
}
