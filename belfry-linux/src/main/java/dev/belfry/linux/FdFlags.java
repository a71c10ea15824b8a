package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;

/** Flags and duplicates of descriptors ({@code fcntl(2)}, {@code dup(2)}). */
public final class FdFlags {
  private static final int F_GETFD = 1;
  private static final int F_SETFD = 2;
  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int F_DUPFD_CLOEXEC = 1030;
  private static final int FD_CLOEXEC = 1;
  private static final int O_NONBLOCK = 0x800;
  private static final int O_CLOEXEC = 0x80000;

  private FdFlags() {}

  /** Whether calls on the open file return without waiting. */
  public static boolean isNonBlocking(Sys sys, int fd) throws ErrnoException {
    return (statusFlags(sys, fd) & O_NONBLOCK) != 0;
  }

  /**
   * Makes the open file non-blocking or blocking. The flag belongs to the open file description:
   * other processes that share it, such as a shell on the same terminal, see the change.
   */
  public static void setNonBlocking(Sys sys, int fd, boolean nonBlocking) throws ErrnoException {
    int old = statusFlags(sys, fd);
    int flags = nonBlocking ? old | O_NONBLOCK : old & ~O_NONBLOCK;
    if (flags != old) {
      call("fcntl", "F_SETFL of " + fd, () -> sys.fcntl(fd, F_SETFL, flags));
    }
  }

  private static int statusFlags(Sys sys, int fd) throws ErrnoException {
    return call("fcntl", "F_GETFL of " + fd, () -> sys.fcntl(fd, F_GETFL, 0));
  }

  /** Whether the descriptor is closed on {@code execve}. */
  public static boolean isCloseOnExec(Sys sys, int fd) throws ErrnoException {
    return (call("fcntl", "F_GETFD of " + fd, () -> sys.fcntl(fd, F_GETFD, 0)) & FD_CLOEXEC) != 0;
  }

  /** Sets whether the descriptor is closed on {@code execve} or inherited. */
  public static void setCloseOnExec(Sys sys, int fd, boolean close) throws ErrnoException {
    call("fcntl", "F_SETFD of " + fd, () -> sys.fcntl(fd, F_SETFD, close ? FD_CLOEXEC : 0));
  }

  /** Duplicates a descriptor, close-on-exec, to the lowest free number. */
  public static Fd duplicate(Sys sys, int fd) throws ErrnoException {
    return duplicate(sys, fd, 0);
  }

  /** Duplicates a descriptor, close-on-exec, to the lowest free number from {@code least} on. */
  public static Fd duplicate(Sys sys, int fd, int least) throws ErrnoException {
    int number =
        call("fcntl", "F_DUPFD_CLOEXEC of " + fd, () -> sys.fcntl(fd, F_DUPFD_CLOEXEC, least));
    return Fd.own(sys, number, "duplicate of " + fd);
  }

  /** Duplicates a descriptor to a given number, close-on-exec, closing what was open there. */
  public static void duplicateTo(Sys sys, int fd, int number) throws ErrnoException {
    call("dup3", fd + " to " + number, () -> sys.dup3(fd, number, O_CLOEXEC));
  }
}
