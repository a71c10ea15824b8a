package dev.belfry.shm;

import dev.belfry.linux.ErrnoException;
import java.io.UncheckedIOException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits as a link does, but sleeps at a bell if the peer may ring without waking a futex. For any
 * number of threads.
 */
final class BellWait {
  /** How long a wait spins before it goes to the bell. */
  private static final long SPIN_NANOS = 100_000;

  /** How long to sleep at the bell of a peer that does not always ring. */
  private static final long SILENT_SLICE_NANOS = 1_000_000;

  /** Where to sleep; null for the futex. */
  private final @Nullable Doorbell bell;

  private final long sliceNanos;

  /** Whether the thread that asks must not wait. */
  private final BooleanSupplier mustNotWait;

  /** The peer has written without ringing, and has not rung since. */
  private volatile boolean silent;

  /**
   * A way to wait.
   *
   * @param bell where to sleep if the peer might not wake a futex, else null
   */
  BellWait(@Nullable Doorbell bell) {
    this(bell, Waiter.SLICE_NANOS);
  }

  /**
   * A way to wait, though not for every thread.
   *
   * @param mustNotWait whether the thread that asks is refused, because it would stop the loop
   */
  BellWait(@Nullable Doorbell bell, BooleanSupplier mustNotWait) {
    this(bell, Waiter.SLICE_NANOS, mustNotWait);
  }

  /**
   * A way to wait.
   *
   * @param sliceNanos after how long at the bell to look though nobody has rung
   */
  BellWait(@Nullable Doorbell bell, long sliceNanos) {
    this(bell, sliceNanos, () -> false);
  }

  private BellWait(@Nullable Doorbell bell, long sliceNanos, BooleanSupplier mustNotWait) {
    this.bell = bell;
    this.sliceNanos = sliceNanos;
    this.mustNotWait = mustNotWait;
  }

  /** Something that one half of a link can wait for. */
  @FunctionalInterface
  interface Wait {
    /** Waits for it on the futex. */
    Awaited until(long deadlineNanos);
  }

  /**
   * Waits.
   *
   * @throws IllegalStateException on a thread that must not, unless the deadline has passed
   */
  Awaited await(Wait what, long deadlineNanos) {
    if (mustNotWait.getAsBoolean() && !Deadlines.isOver(deadlineNanos)) {
      throw new IllegalStateException("waiting for a guest would stop the loop");
    }
    Doorbell sleepAt = bell;
    if (sleepAt == null) {
      return what.until(deadlineNanos);
    }
    boolean rung = true;
    while (true) {
      long heard = sleepAt.heard();
      long spin = Deadlines.earlier(deadlineNanos, System.nanoTime() + SPIN_NANOS);
      Awaited awaited = what.until(spin);
      if (awaited != Awaited.TIMEOUT || Deadlines.isOver(deadlineNanos)) {
        silent |= awaited == Awaited.READY && !rung;
        return awaited;
      }
      long slice = silent ? SILENT_SLICE_NANOS : sliceNanos;
      long until = Deadlines.earlier(deadlineNanos, System.nanoTime() + slice);
      rung = awaitBell(sleepAt, heard, until);
      if (rung && silent) {
        silent = false; // its last ring had only just not come when we looked
      }
    }
  }

  /** Sleeps at the bell; false if nobody has rung. */
  private static boolean awaitBell(Doorbell bell, long heard, long untilNanos) {
    try {
      return switch (bell.awaitSince(heard, untilNanos)) {
        case SIGNAL -> true;
        case TIMEOUT -> false;
        case DEATH -> {
          // The lifeline ends the link in a moment; until then there is nothing to sleep at.
          Backoff.pause(SILENT_SLICE_NANOS);
          yield true;
        }
      };
    } catch (IllegalStateException closed) {
      return true; // together with what is waited for; the next look says so
    } catch (ErrnoException e) {
      throw new UncheckedIOException(e);
    }
  }
}
