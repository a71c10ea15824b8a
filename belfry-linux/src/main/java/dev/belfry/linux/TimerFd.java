package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A timer that makes its descriptor readable ({@code timerfd_create(2)}), on the clock of {@link
 * System#nanoTime}, which is CLOCK_MONOTONIC on Linux. Never blocks.
 *
 * <pre>{@code
 * struct itimerspec { struct timespec it_interval; struct timespec it_value; };
 * }</pre>
 */
public final class TimerFd implements AutoCloseable {
  private static final int CLOCK_MONOTONIC = 1;
  private static final int TFD_CLOEXEC = 0x80000;
  private static final int TFD_NONBLOCK = 0x800;
  private static final int TFD_TIMER_ABSTIME = 1;

  private final Sys sys;
  private final Fd fd;
  private final MemorySegment itimerspec;
  private final MemorySegment value;

  private TimerFd(Sys sys, Fd fd) {
    this.sys = sys;
    this.fd = fd;
    this.itimerspec = Arena.ofAuto().allocate(2 * Timespec.BYTES, Long.BYTES);
    this.value = itimerspec.asSlice(Timespec.BYTES);
  }

  /** Creates a timer that is not set. */
  public static TimerFd create(Sys sys) throws ErrnoException {
    int number =
        call(
            "timerfd_create",
            "CLOCK_MONOTONIC",
            () -> sys.timerfdCreate(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    return new TimerFd(sys, Fd.own(sys, number, "timerfd"));
  }

  /** The descriptor to watch. */
  public int number() {
    return fd.number();
  }

  /**
   * Sets the timer to a time of {@link System#nanoTime}; a time in the past fires at once. For one
   * thread at a time. Allocates nothing.
   *
   * @return zero or {@code -errno}
   */
  public int setDeadline(long deadlineNanos) {
    // A value of zero would disarm the timer, so 1 ns is the earliest.
    Timespec.set(value, Math.max(1, deadlineNanos));
    return sys.timerfdSettime(fd.number(), TFD_TIMER_ABSTIME, itimerspec, MemorySegment.NULL);
  }

  /** Disarms the timer. */
  public int clear() {
    Timespec.set(value, 0);
    return sys.timerfdSettime(fd.number(), 0, itimerspec, MemorySegment.NULL);
  }

  @Override
  public void close() {
    fd.close();
  }
}
