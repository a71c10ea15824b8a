package dev.belfry.shm;

import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * Waits for events in shared memory according to a {@link WaitStrategy}. Sleeps in slices of at
 * most 50 ms, so that the end of the peer, of the segment or of this side is noticed even if
 * nothing is left to wake us. One thread at a time. Allocates nothing.
 *
 * <p>The processor pauses for some tens of nanoseconds between two looks. Without the pause the
 * looks would keep fetching the cache line that the peer is writing, and a message of several lines
 * would take half as long again.
 */
final class Waiter {
  /** The longest sleep without a wake-up. */
  static final long SLICE_NANOS = 50_000_000;

  /** The longest sleep while the peer does not wake us, as some never do. */
  private static final long SILENT_SLICE_NANOS = 1_000_000;

  /** The number of looks without reading the clock; with the pauses about a microsecond. */
  private static final int LOOKS = 20;

  /** The number of looks before anything else: longer than a peer that is awake takes to answer. */
  private static final int FIRST_LOOKS = 100;

  private static final long LEAST_SPIN_NANOS = 2_000;

  /**
   * A few times the cost of going to sleep and being woken. It must exceed that cost: a pair in
   * which both sides sleep sees no shorter waits, and would never find out that spinning pays. This
   * holds for a single processor, too, because a spinning thread yields. The number of processors
   * is no guide: a thread pinned to one is told that there is no other.
   */
  private static final long MAX_SPIN_NANOS = 200_000;

  private final Segment segment;
  private final WaitStrategy strategy;
  private final FutexWait futex;
  private long sliceNanos = SLICE_NANOS;
  private long spinNanos = MAX_SPIN_NANOS;
  private long sleeps;
  private long unwoken;

  /** Whether the last event we slept for came without a wake-up. */
  private boolean silent;

  Waiter(Segment segment, WaitStrategy strategy) {
    this.segment = segment;
    this.strategy = strategy;
    this.futex = new FutexWait(segment.sys());
  }

  WaitStrategy strategy() {
    return strategy;
  }

  /** Sets the longest sleep without a wake-up. */
  void sleepAtMost(long nanos) {
    sliceNanos = nanos;
  }

  /** How often this waiter went to sleep; for metrics. */
  long sleeps() {
    return sleeps;
  }

  /**
   * How often this waiter slept to the end of a slice and then found its event: the peer had not
   * woken it, as some peers of format 1 never do.
   */
  long unwoken() {
    return unwoken;
  }

  /**
   * Waits.
   *
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link FutexWait#FOREVER}
   */
  Awaited await(Awaitable what, long deadlineNanos) {
    if (strategy == WaitStrategy.SLEEP) {
      return sleep(what, deadlineNanos);
    }
    if (isReadySoon(what)) {
      return Awaited.READY;
    }
    return switch (strategy) {
      case SPIN, YIELD -> spin(what, deadlineNanos);
      default -> spinThenSleep(what, deadlineNanos);
    };
  }

  /** Spins, without yielding, for as long as a peer that is awake takes to answer. */
  boolean isReadySoon(Awaitable what) {
    for (int i = 0; i < FIRST_LOOKS; i++) {
      if (what.isReady()) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  @SuppressWarnings("ThreadPriorityCheck") // the strategy asks for yielding
  private Awaited spin(Awaitable what, long deadlineNanos) {
    while (true) {
      for (int i = 0; i < LOOKS; i++) {
        if (what.isReady()) {
          return Awaited.READY;
        }
        if (strategy == WaitStrategy.YIELD) {
          Thread.yield();
        } else {
          Thread.onSpinWait();
        }
      }
      Awaited end = end(what, deadlineNanos, System.nanoTime());
      if (end != null) {
        return end;
      }
    }
  }

  /**
   * Spins within a budget, then sleeps. A wait that spinning could have covered sets the budget to
   * twice that wait, lowering it by at most an eighth; a longer one halves it: so a busy pair never
   * sleeps and an idle one hardly spins. It yields between looks, possibly to the very thread it
   * waits for if there are fewer processors than spinners.
   */
  @SuppressWarnings("ThreadPriorityCheck")
  private Awaited spinThenSleep(Awaitable what, long deadlineNanos) {
    long began = System.nanoTime();
    long now = began;
    while (now - began < spinNanos) {
      for (int i = 0; i < LOOKS; i++) {
        if (what.isReady()) {
          adapt(System.nanoTime() - began);
          return Awaited.READY;
        }
        Thread.onSpinWait();
      }
      Thread.yield();
      now = System.nanoTime();
      Awaited end = end(what, deadlineNanos, now);
      if (end != null) {
        return end;
      }
    }
    Awaited result = sleep(what, deadlineNanos);
    adapt(System.nanoTime() - began);
    return result;
  }

  private void adapt(long waitedNanos) {
    boolean spinningPays = waitedNanos <= MAX_SPIN_NANOS;
    // Down by an eighth at a time: after one quick answer the next may still be slow.
    long next = spinningPays ? Math.max(2 * waitedNanos, spinNanos - spinNanos / 8) : spinNanos / 2;
    spinNanos = Math.clamp(next, LEAST_SPIN_NANOS, MAX_SPIN_NANOS);
  }

  // r[impl shm.wakeup.consumer-wait]
  // r[impl shm.wakeup.producer-wait]
  private Awaited sleep(Awaitable what, long deadlineNanos) {
    while (true) {
      int expected = what.arm();
      if (what.isReady()) {
        return Awaited.READY;
      }
      long now = System.nanoTime();
      Awaited end = end(what, deadlineNanos, now);
      if (end != null) {
        return end;
      }
      long slice = now + (silent ? SILENT_SLICE_NANOS : sliceNanos);
      long until = Deadlines.earlier(slice, deadlineNanos);
      sleeps++;
      if (await(what, expected, until) != WaitResult.TIMEOUT) {
        silent = false;
      } else if (what.isReady()) {
        unwoken++;
        silent = true;
      }
    }
  }

  private WaitResult await(Awaitable what, int expected, long until) {
    try {
      return what.sleep(futex, expected, until);
    } catch (UncheckedIOException refused) {
      segment.checkIntact(); // truncated memory is the likely reason, and the better message
      throw refused;
    }
  }

  /**
   * The reason to stop waiting, or null. Readiness is tested last: an event from before the end
   * still counts.
   */
  private static @Nullable Awaited end(Awaitable what, long deadlineNanos, long now) {
    boolean over = what.isOver();
    boolean late = deadlineNanos != FutexWait.FOREVER && now - deadlineNanos >= 0;
    if (!over && !late) {
      return null;
    }
    return what.isReady() ? Awaited.READY : over ? Awaited.OVER : Awaited.TIMEOUT;
  }
}
