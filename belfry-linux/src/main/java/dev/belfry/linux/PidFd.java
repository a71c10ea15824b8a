package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.Optional;

/**
 * A stable reference to a process, immune to pid reuse ({@code pidfd_open(2)}). The descriptor
 * becomes readable when the process has ended.
 */
public final class PidFd implements AutoCloseable {
  /**
   * The fields of {@code waitid}'s result that are used ({@code sigaction(2)}):
   *
   * <pre>{@code
   * siginfo_t { int si_signo; int si_errno; int si_code; int pad;
   *             pid_t si_pid; uid_t si_uid; int si_status; ... };   // 128 bytes
   * }</pre>
   */
  static final StructLayout SIGINFO =
      MemoryLayout.structLayout(
          JAVA_INT.withName("signo"),
          JAVA_INT.withName("errno"),
          JAVA_INT.withName("code"),
          MemoryLayout.paddingLayout(4),
          JAVA_INT.withName("pid"),
          JAVA_INT.withName("uid"),
          JAVA_INT.withName("status"),
          MemoryLayout.paddingLayout(100));

  private static final int P_PIDFD = 3;
  private static final int WNOHANG = 1;
  private static final int WEXITED = 4;
  private static final int CLD_EXITED = 1;
  private static final int CLD_DUMPED = 3;

  private final Sys sys;
  private final int pid;
  private final Fd fd;

  private PidFd(Sys sys, int pid, Fd fd) {
    this.sys = sys;
    this.pid = pid;
    this.fd = fd;
  }

  /** Opens the process that has this id now. */
  public static PidFd open(Sys sys, int pid) throws ErrnoException {
    int number = call("pidfd_open", "process " + pid, () -> sys.pidfdOpen(pid, 0));
    return new PidFd(sys, pid, Fd.own(sys, number, "process " + pid));
  }

  /** The process id; another process may get it once this one was reaped. */
  public int pid() {
    return pid;
  }

  /** The descriptor to watch. */
  public int number() {
    return fd.number();
  }

  /** The descriptor, for an event loop that takes ownership and closes it. */
  public Fd fd() {
    return fd;
  }

  /** Sends a signal to exactly this process; ESRCH if it has ended and was reaped. */
  public void sendSignal(int signal) throws ErrnoException {
    call(
        "pidfd_send_signal",
        Signo.name(signal) + " to process " + pid,
        () -> sys.pidfdSendSignal(fd.number(), signal, MemorySegment.NULL, 0));
  }

  /** Reaps a child that has ended and returns its exit status, once; empty while it runs. */
  public Optional<ExitStatus> reap() throws ErrnoException {
    return waitFor(WEXITED | WNOHANG);
  }

  /** Waits for a child to end. Blocks the thread in the kernel: not for virtual threads. */
  public ExitStatus awaitExit() throws ErrnoException {
    return waitFor(WEXITED).orElseThrow();
  }

  private Optional<ExitStatus> waitFor(int options) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(SIGINFO); // stays zero if it has not ended
      call("waitid", "process " + pid, () -> sys.waitid(P_PIDFD, fd.number(), info, options));
      if (info.get(JAVA_INT, offset("pid")) == 0) {
        return Optional.empty();
      }
      int code = info.get(JAVA_INT, offset("code"));
      int status = info.get(JAVA_INT, offset("status"));
      return Optional.of(new ExitStatus(code != CLD_EXITED, status, code == CLD_DUMPED));
    }
  }

  @Override
  public void close() {
    fd.close();
  }

  private static long offset(String field) {
    return SIGINFO.byteOffset(PathElement.groupElement(field));
  }
}
