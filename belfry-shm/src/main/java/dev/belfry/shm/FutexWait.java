package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Futex;
import dev.belfry.linux.Sys;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Sleeps until a word of shared memory changes and a waker says so. Where the kernel refuses
 * futexes, and on virtual threads, which must not block in a system call, it polls instead, with
 * pauses that grow from one microsecond to one millisecond.
 *
 * <p>One instance for each waiting thread; any thread may wake. Allocates nothing.
 */
public final class FutexWait {
  /** A deadline that never comes. */
  public static final long FOREVER = Futex.FOREVER;

  private static final VarHandle INT = JAVA_INT.varHandle();

  private final Futex futex;
  private boolean polling;

  /** Creates an instance for one waiting thread. */
  public FutexWait(Sys sys) {
    this.futex = new Futex(sys);
  }

  /**
   * Sleeps while the word has the expected value. Wake-ups may be spurious: the caller tests its
   * condition again.
   *
   * @param word four bytes, aligned
   * @param expected the value read before the condition was tested
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link #FOREVER}
   * @throws UncheckedIOException if the kernel refuses, as for memory that was truncated
   */
  public WaitResult await(MemorySegment word, int expected, long deadlineNanos) {
    if (polling || Thread.currentThread().isVirtual()) {
      return poll(word, expected, deadlineNanos);
    }
    int result = futex.await(word, expected, deadlineNanos);
    return switch (result) {
      case -Errno.EAGAIN -> WaitResult.CHANGED;
      case -Errno.ETIMEDOUT -> WaitResult.TIMEOUT;
      case -Errno.ENOSYS, -Errno.EPERM -> {
        polling = true;
        yield poll(word, expected, deadlineNanos);
      }
      default -> {
        if (result < 0) {
          throw new UncheckedIOException(
              new ErrnoException("futex", -result, "a word of shared memory"));
        }
        yield WaitResult.WOKEN;
      }
    };
  }

  // r[impl shm.wakeup.fallback]
  private static WaitResult poll(MemorySegment word, int expected, long deadlineNanos) {
    long pause = Backoff.FIRST_NANOS;
    while ((int) INT.getAcquire(word, 0L) == expected) {
      long rest = deadlineNanos == FOREVER ? Long.MAX_VALUE : deadlineNanos - System.nanoTime();
      if (rest <= 0) {
        return WaitResult.TIMEOUT;
      }
      Backoff.pause(Math.min(pause, rest));
      pause = Backoff.next(pause);
    }
    return WaitResult.CHANGED;
  }

  /** Wakes at most {@code count} sleepers; returns how many, which is 0 where there is no futex. */
  public static int wake(Sys sys, MemorySegment word, int count) {
    return Math.max(0, Futex.wake(sys, word, count));
  }
}
