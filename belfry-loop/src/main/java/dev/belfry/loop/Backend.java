package dev.belfry.loop;

import dev.belfry.linux.IoUring;
import dev.belfry.linux.Sys;
import java.util.Optional;

/**
 * A kernel interface that drives a loop. All offer the same operations and handles, so a program
 * changes nothing but the name.
 */
// r[impl loop.test.matrix]
public enum Backend {
  /** {@code epoll_pwait2}, which waits with nanosecond resolution; Linux 5.11. */
  EPOLL("epoll"),
  /** {@code epoll_wait} and a timerfd, for kernels and sandboxes that refuse the other. */
  EPOLL_TIMERFD("epoll-timerfd"),
  /**
   * Requests that the kernel completes, including those for files; Linux 5.18, better from 6.1 on.
   * Many containers and some machines refuse it, so it is used only if asked for.
   */
  IO_URING("io_uring");

  private final String label;

  Backend(String label) {
    this.label = label;
  }

  /** The name on a command line. */
  public String label() {
    return label;
  }

  /** Whether this machine has it. */
  public boolean isAvailable() {
    return unavailabilityCause().isEmpty();
  }

  /** Why this machine does not have it; empty if it does. */
  public Optional<String> unavailabilityCause() {
    Sys sys = Sys.forAnyThread();
    return this == IO_URING
        ? IoUring.unavailabilityCause(sys)
        : EpollDriver.unavailabilityCause(this, sys);
  }
}
