package dev.belfry.loop;

import static dev.belfry.linux.Errno.EACCES;
import static dev.belfry.linux.Errno.ENOSYS;
import static dev.belfry.linux.Errno.EOPNOTSUPP;
import static dev.belfry.linux.Errno.EPERM;

import dev.belfry.linux.Epoll;
import dev.belfry.linux.EpollEvents;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sys;
import dev.belfry.linux.TimerFd;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * Waits on epoll with a timeout finer than a millisecond: with {@code epoll_pwait2} or, where that
 * is refused, with {@code epoll_wait} and a timerfd.
 */
// r[impl loop.wait.assume]
final class EpollWait implements AutoCloseable {
  private static final long TIMER_TOKEN = -2;
  private static final int MILLIS_FOREVER = -1;
  private static final long NOT_SET = Long.MIN_VALUE;

  private final Epoll epoll;

  /** Null if {@code epoll_pwait2} works. */
  private final @Nullable TimerFd timer;

  /** The deadline the timer is set to. */
  private long timerDeadline = NOT_SET;

  private EpollWait(Epoll epoll, @Nullable TimerFd timer) {
    this.epoll = epoll;
    this.timer = timer;
  }

  static EpollWait open(Sys sys, Epoll epoll, @Nullable Backend wanted) throws ErrnoException {
    if (wanted != Backend.EPOLL_TIMERFD) {
      int probe = epoll.await(new EpollEvents(Arena.ofAuto(), 1), 0);
      if (probe >= 0) {
        return new EpollWait(epoll, null);
      }
      boolean refused =
          switch (-probe) {
            case ENOSYS, EPERM, EACCES, EOPNOTSUPP -> true;
            default -> false;
          };
      if (!refused || wanted == Backend.EPOLL) {
        throw new ErrnoException("epoll_pwait2", -probe, "probe");
      }
    }
    TimerFd timer = TimerFd.create(sys);
    int added = epoll.add(timer.number(), Epoll.IN | Epoll.ET, TIMER_TOKEN);
    if (added < 0) {
      timer.close();
      throw new ErrnoException("epoll_ctl", -added, "timerfd");
    }
    return new EpollWait(epoll, timer);
  }

  Backend backend() {
    return timer == null ? Backend.EPOLL : Backend.EPOLL_TIMERFD;
  }

  /** The name of the waiting system call. */
  String call() {
    return timer == null ? "epoll_pwait2" : "epoll_wait";
  }

  /**
   * Waits until the deadline at the latest; returns the number of events or {@code -errno}.
   *
   * @throws ErrnoException if the timer cannot be set
   */
  // r[impl loop.wait.pwait2] r[impl loop.wait.relative] r[impl loop.wait.ns]
  int await(EpollEvents batch, long deadline) throws ErrnoException {
    if (deadline == Driver.NOW) {
      return timer == null ? epoll.await(batch, 0) : epoll.awaitMillis(batch, 0);
    }
    if (timer == null) {
      long timeout = deadline == Driver.FOREVER ? Epoll.FOREVER : Driver.timeLeft(deadline);
      return epoll.await(batch, timeout);
    }
    if (deadline != Driver.FOREVER && deadline != timerDeadline) {
      int set = timer.setDeadline(deadline);
      if (set < 0) {
        throw new ErrnoException("timerfd_settime", -set, "loop");
      }
      timerDeadline = deadline;
    }
    return epoll.awaitMillis(batch, MILLIS_FOREVER);
  }

  /** Notes that the timer has fired, which its edge-triggered descriptor reports only once. */
  void fired(long token) {
    if (token == TIMER_TOKEN) {
      timerDeadline = NOT_SET;
    }
  }

  @Override
  public void close() {
    if (timer != null) {
      timer.close();
    }
  }
}
