package dev.belfry.linux;

import static dev.belfry.linux.Errno.EINTR;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Waits until another process changes a word of shared memory ({@code futex(2)}). Nothing here
 * allocates or throws; results below zero are {@code -errno}.
 *
 * <p>One instance for each thread that waits, because it holds the deadline passed to the kernel;
 * waking is for anyone. The calls are made without {@code FUTEX_PRIVATE_FLAG}, which would keep
 * processes from seeing each other. A wait blocks its thread in the kernel: never on a virtual one.
 */
public final class Futex {
  /** A deadline that never comes. */
  public static final long FOREVER = Long.MAX_VALUE;

  private static final int FUTEX_WAKE = 1;
  private static final int FUTEX_WAIT_BITSET = 9;
  private static final int MATCH_ANY = -1;

  private static final MemorySegment NOBODY_SLEEPS_HERE = Arena.global().allocate(JAVA_INT);

  private final Sys sys;
  private final MemorySegment deadline;

  /** An instance for one waiting thread. */
  public Futex(Sys sys) {
    this.sys = sys;
    this.deadline = Timespec.allocate(Arena.ofAuto());
  }

  /**
   * Sleeps while the word has the expected value. Repeated when interrupted, because the deadline
   * is absolute. Whoever returns tests the condition again: a wake-up is a hint.
   *
   * @param word four bytes, aligned
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link #FOREVER}
   * @return zero when woken, {@code -EAGAIN} if the word had another value, {@code -ETIMEDOUT}
   */
  public int await(MemorySegment word, int expected, long deadlineNanos) {
    MemorySegment until = MemorySegment.NULL;
    if (deadlineNanos != FOREVER) {
      Timespec.set(deadline, Math.max(0, deadlineNanos));
      until = deadline;
    }
    int result;
    do {
      result = sys.futex(word, FUTEX_WAIT_BITSET, expected, until, MemorySegment.NULL, MATCH_ANY);
    } while (result == -EINTR);
    return result;
  }

  /**
   * Links the call by which {@link #wake} reaches the kernel. A call is linked when it is first
   * made, which takes tens of milliseconds; a thread that does that beforehand, while nobody waits,
   * saves the first sleeper it wakes that delay.
   */
  public static void linkWake(Sys sys) {
    wake(sys, NOBODY_SLEEPS_HERE, 1);
  }

  /** Wakes at most {@code count} sleepers; returns how many, or less than zero if refused. */
  public static int wake(Sys sys, MemorySegment word, int count) {
    return sys.futex(word, FUTEX_WAKE, count);
  }
}
