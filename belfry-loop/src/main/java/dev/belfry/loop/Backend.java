package dev.belfry.loop;

import dev.belfry.linux.IoUring;
import dev.belfry.linux.Sys;
import java.util.Optional;

/**
 * A kernel interface that drives a loop. All backends offer the same operations and handles, so
 * switching takes nothing but another name.
 */
// r[impl loop.test.matrix]
public enum Backend {
  /** {@code epoll_pwait2}, which waits with nanosecond resolution; Linux 5.11. */
  EPOLL("epoll"),
  /** {@code epoll_wait} and a timerfd, where a kernel or sandbox refuses epoll_pwait2. */
  EPOLL_TIMERFD("epoll-timerfd"),
  /**
   * Requests that the kernel completes, file I/O included; Linux 5.18, better from 6.1 on. Many
   * containers and some machines refuse it, so it is used only on request.
   */
  IO_URING("io_uring");

  private final String label;

  Backend(String label) {
    this.label = label;
  }

  /** The name used on a command line. */
  public String label() {
    return label;
  }

  /** Whether this machine supports this backend. */
  public boolean isAvailable() {
    return unavailabilityCause().isEmpty();
  }

  /** Why this machine does not support this backend; empty if it does. */
  public Optional<String> unavailabilityCause() {
    Sys sys = Sys.forAnyThread();
    return this == IO_URING
        ? IoUring.unavailabilityCause(sys)
        : EpollDriver.unavailabilityCause(this, sys);
  }
}
