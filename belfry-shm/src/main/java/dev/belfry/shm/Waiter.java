package dev.belfry.shm;

import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * Waits for things in shared memory as a {@link WaitStrategy} says. Sleeps at most 50 ms at a
 * stretch, so that the end of the peer, of the segment and of this side is seen even if nobody is
 * left to wake us. For one thread at a time. Allocates nothing.
 *
 * <p>Between two looks the processor pauses for some tens of nanoseconds. Without that the looks
 * keep fetching the line that the peer is just writing, and a message of several lines takes half
 * as long again.
 */
final class Waiter {
  /** The longest sleep at a stretch. */
  static final long SLICE_NANOS = 50_000_000;

  /** The longest sleep at a stretch while the peer does not wake us, as some never do. */
  private static final long SILENT_SLICE_NANOS = 1_000_000;

  /** Looks without asking for the time; with the pause between them about a microsecond. */
  private static final int LOOKS = 20;

  /** Looks before anything else: longer than the answer of a peer that is awake takes. */
  private static final int FIRST_LOOKS = 100;

  private static final long LEAST_SPIN_NANOS = 2_000;

  /**
   * A few times what it costs to go to sleep and be woken. It must be more than that: a pair in
   * which both sides sleep sees no shorter waits, and would never find out that spinning pays. That
   * holds for a single processor too, because a spinning thread lets others run; and how many there
   * are cannot be asked: a thread that is pinned to one is told that there is no other.
   */
  private static final long MAX_SPIN_NANOS = 200_000;

  private final Segment segment;
  private final WaitStrategy strategy;
  private final FutexWait futex;
  private long sliceNanos = SLICE_NANOS;
  private long spinNanos = MAX_SPIN_NANOS;
  private long sleeps;
  private long unwoken;

  /** Whether the last thing that came while we slept came without a wake-up. */
  private boolean silent;

  Waiter(Segment segment, WaitStrategy strategy) {
    this.segment = segment;
    this.strategy = strategy;
    this.futex = new FutexWait(segment.sys());
  }

  WaitStrategy strategy() {
    return strategy;
  }

  /** Sleeps so long at a stretch, unless it is woken. */
  void sleepAtMost(long nanos) {
    sliceNanos = nanos;
  }

  /** How often it went to sleep; for metrics. */
  long sleeps() {
    return sleeps;
  }

  /**
   * How often it slept to the end of a stretch and then found what it waited for: nobody had woken
   * it, as some peers of format 1 never do.
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

  /** Looks for as long as the answer of a peer that is awake takes, and lets nobody else run. */
  boolean isReadySoon(Awaitable what) {
    for (int i = 0; i < FIRST_LOOKS; i++) {
      if (what.isReady()) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  @SuppressWarnings("ThreadPriorityCheck") // yielding is what was asked for
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
   * Spins as long as the budget says and then sleeps. A wait that a longer spin would have covered
   * makes the budget grow to twice that wait, any other makes it shrink: so a busy pair never
   * sleeps and an idle one hardly spins. Between looks it lets others run, which on a machine with
   * fewer processors than spinners may well be the ones it waits for.
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
    // Down by an eighth at a time: one quick answer does not mean that the next is quick.
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
      segment.checkIntact(); // memory that was cut off is the likely reason, and says more
      throw refused;
    }
  }

  /** Why to stop waiting, or null. What is ready was ready before the end: so test that last. */
  private static @Nullable Awaited end(Awaitable what, long deadlineNanos, long now) {
    boolean over = what.isOver();
    boolean late = deadlineNanos != FutexWait.FOREVER && now - deadlineNanos >= 0;
    if (!over && !late) {
      return null;
    }
    return what.isReady() ? Awaited.READY : over ? Awaited.OVER : Awaited.TIMEOUT;
  }
}
