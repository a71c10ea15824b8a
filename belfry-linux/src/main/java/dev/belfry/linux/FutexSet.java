package dev.belfry.linux;

import static dev.belfry.linux.Errno.EINTR;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/**
 * Waits for any of several words ({@code futex_waitv}, Linux 5.16), an array of:
 *
 * <pre>{@code
 * struct futex_waitv { __u64 val; __u64 uaddr; __u32 flags; __u32 __reserved; };
 * }</pre>
 *
 * For one thread. Only the constructor allocates; negative results are {@code -errno}.
 */
public final class FutexSet {
  /** The most words the kernel accepts at once. */
  public static final int MAX_WORDS = 128;

  static final StructLayout LAYOUT =
      MemoryLayout.structLayout(
          JAVA_LONG.withName("val"),
          JAVA_LONG.withName("uaddr"),
          JAVA_INT.withName("flags"),
          JAVA_INT.withName("reserved"));

  private static final long WAITER_BYTES = LAYOUT.byteSize();
  private static final long VAL = LAYOUT.byteOffset(PathElement.groupElement("val"));
  private static final long UADDR = LAYOUT.byteOffset(PathElement.groupElement("uaddr"));
  private static final long FLAGS = LAYOUT.byteOffset(PathElement.groupElement("flags"));

  private static final int FUTEX_32 = 2;
  private static final int CLOCK_MONOTONIC = 1;

  private final Sys sys;
  private final MemorySegment waiters;
  private final MemorySegment deadline;

  /** The words, kept alive while the kernel may access their memory. */
  private final MemorySegment[] words;

  /** Allocates room for a number of words, at most {@value #MAX_WORDS}. */
  public FutexSet(Sys sys, int capacity) {
    if (capacity < 1 || capacity > MAX_WORDS) {
      throw new IllegalArgumentException("1 to 128 words, not " + capacity);
    }
    this.sys = sys;
    Arena arena = Arena.ofAuto();
    this.waiters = arena.allocate(LAYOUT, capacity);
    this.deadline = Timespec.allocate(arena);
    this.words = new MemorySegment[capacity];
  }

  /** Whether the kernel supports this, and no filter refuses it. */
  public static boolean isAvailable(Sys sys) {
    return probe(sys) == -Errno.EAGAIN;
  }

  /** Waits while a word of 0 is 1: fails with {@code -EAGAIN} if the kernel knows the call. */
  static int probe(Sys sys) {
    var words = new FutexSet(sys, 1);
    words.set(0, Arena.ofAuto().allocate(JAVA_INT), 1);
    return words.await(1, 0);
  }

  /** Sets the word at an index, and its expected value. */
  public void set(int index, MemorySegment word, int expected) {
    words[index] = word;
    long base = index * WAITER_BYTES;
    waiters.set(JAVA_LONG, base + VAL, Integer.toUnsignedLong(expected));
    waiters.set(JAVA_LONG, base + UADDR, word.address());
    waiters.set(JAVA_INT, base + FLAGS, FUTEX_32);
  }

  /**
   * Sleeps while each of the first {@code count} words has its expected value.
   *
   * @param count the number of words to use
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link Futex#FOREVER}
   * @return the index of a word that was woken, {@code -EAGAIN} if one had another value, {@code
   *     -ETIMEDOUT}
   */
  public int await(int count, long deadlineNanos) {
    MemorySegment until = MemorySegment.NULL;
    if (deadlineNanos != Futex.FOREVER) {
      Timespec.set(deadline, Math.max(0, deadlineNanos));
      until = deadline;
    }
    int result;
    do {
      result = sys.futexWaitv(waiters, count, 0, until, CLOCK_MONOTONIC);
    } while (result == -EINTR);
    return result;
  }
}
