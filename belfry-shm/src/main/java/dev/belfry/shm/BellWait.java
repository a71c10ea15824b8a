package dev.belfry.shm;

import dev.belfry.linux.ErrnoException;
import java.io.UncheckedIOException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits as a link does, but sleeps at a bell if the peer may ring without waking a futex. Safe for
 * use by any number of threads.
 */
final class BellWait {
  /** How long a wait spins before it sleeps at the bell. */
  private static final long SPIN_NANOS = 100_000;

  /** The longest sleep at the bell of a peer that does not always ring. */
  private static final long SILENT_SLICE_NANOS = 1_000_000;

  /** The bell to sleep at; null to sleep on the futex. */
  private final @Nullable Doorbell bell;

  private final long sliceNanos;

  /** Whether the calling thread must not block. */
  private final BooleanSupplier mustNotWait;

  /** Whether the peer has last written without ringing. */
  private volatile boolean silent;

  /**
   * Creates a wait that any thread may use.
   *
   * @param bell the bell to sleep at if the peer might not wake a futex, else null
   */
  BellWait(@Nullable Doorbell bell) {
    this(bell, Waiter.SLICE_NANOS);
  }

  /**
   * Creates a wait that some threads must not use.
   *
   * @param mustNotWait whether the calling thread is refused, because blocking it would stop the
   *     loop
   */
  BellWait(@Nullable Doorbell bell, BooleanSupplier mustNotWait) {
    this(bell, Waiter.SLICE_NANOS, mustNotWait);
  }

  /**
   * Creates a wait with its own slice.
   *
   * @param sliceNanos how long to sleep at the bell without a ring before looking again
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
   * @throws IllegalStateException on a thread that must not block, unless the deadline has passed
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
        silent = false; // its last ring was only just late when we looked
      }
    }
  }

  /** Sleeps at the bell; returns false if it did not ring. */
  private static boolean awaitBell(Doorbell bell, long heard, long untilNanos) {
    try {
      return switch (bell.awaitSince(heard, untilNanos)) {
        case SIGNAL -> true;
        case TIMEOUT -> false;
        case DEATH -> {
          // The lifeline is about to end the link; until then there is nothing to sleep on.
          Backoff.pause(SILENT_SLICE_NANOS);
          yield true;
        }
      };
    } catch (IllegalStateException closed) {
      return true; // so is the link; the next look reports it
    } catch (ErrnoException e) {
      throw new UncheckedIOException(e);
    }
  }
}
