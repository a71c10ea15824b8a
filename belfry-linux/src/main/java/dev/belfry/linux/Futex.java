package dev.belfry.linux;

import static dev.belfry.linux.Errno.EINTR;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Waits until another process changes a word of shared memory ({@code futex(2)}). Nothing here
 * throws, and only the first wait allocates; negative results are {@code -errno}.
 *
 * <p>Each waiting thread needs an instance of its own, because it holds the deadline passed to the
 * kernel; any thread may wake. {@code FUTEX_PRIVATE_FLAG} is not used, because it would hide
 * processes from each other. A wait blocks its thread in the kernel: not for virtual threads.
 */
public final class Futex {
  /** A deadline that never comes. */
  public static final long FOREVER = Long.MAX_VALUE;

  private static final int FUTEX_WAKE = 1;
  private static final int FUTEX_WAIT_BITSET = 9;
  private static final int MATCH_ANY = -1;

  private static final MemorySegment NOBODY_SLEEPS_HERE = Arena.global().allocate(JAVA_INT);

  private final Sys sys;

  /** Allocated by the first wait that needs it: many an instance never waits. */
  private @Nullable MemorySegment deadline;

  /** Creates an instance for one waiting thread. */
  public Futex(Sys sys) {
    this.sys = sys;
  }

  /**
   * Sleeps while the word has the expected value. Repeated when interrupted, because the deadline
   * is absolute. Wake-ups may be spurious: test the condition again.
   *
   * @param word four aligned bytes
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link #FOREVER}
   * @return zero when woken, {@code -EAGAIN} if the word had another value, {@code -ETIMEDOUT}
   */
  public int await(MemorySegment word, int expected, long deadlineNanos) {
    MemorySegment until = MemorySegment.NULL;
    if (deadlineNanos != FOREVER) {
      until = deadline();
      Timespec.set(until, Math.max(0, deadlineNanos));
    }
    int result;
    do {
      result = sys.futex(word, FUTEX_WAIT_BITSET, expected, until, MemorySegment.NULL, MATCH_ANY);
    } while (result == -EINTR);
    return result;
  }

  private MemorySegment deadline() {
    MemorySegment allocated = deadline;
    if (allocated == null) {
      allocated = Timespec.allocate(Arena.ofAuto());
      deadline = allocated;
    }
    return allocated;
  }

  /**
   * Links the call that {@link #wake} makes. A call is linked when it is first made, which takes
   * tens of milliseconds. Linking it in advance, while no thread waits, spares the first sleeper
   * that delay.
   */
  public static void linkWake(Sys sys) {
    wake(sys, NOBODY_SLEEPS_HERE, 1);
  }

  /** Wakes at most {@code count} sleepers; returns how many, or a negative number if refused. */
  public static int wake(Sys sys, MemorySegment word, int count) {
    return sys.futex(word, FUTEX_WAKE, count);
  }
}
