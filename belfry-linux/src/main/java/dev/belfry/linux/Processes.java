package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;

import java.lang.foreign.MemorySegment;

/** This process and its threads ({@code prctl(2)}, {@code kill(2)}, {@code getppid(2)}). */
public final class Processes {
  private static final int PR_SET_PDEATHSIG = 1;
  private static final int PR_SET_TIMERSLACK = 29;
  private static final int P_PID = 1;
  private static final int WEXITED = 4;

  private Processes() {}

  /** The process id of our parent; it changes when the parent dies. */
  public static int parent(Sys sys) {
    return sys.getppid();
  }

  /**
   * Requests a signal for when our parent dies; zero for none. The "parent" is the thread that
   * started us, which may be dead already: check {@link #parent} afterwards.
   */
  public static void setParentDeathSignal(Sys sys, int signal) throws ErrnoException {
    call("prctl", "PR_SET_PDEATHSIG " + signal, () -> sys.prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0));
  }

  /** How late the kernel may wake the calling thread, to batch wake-ups; 50 µs by default. */
  public static void setTimerSlack(Sys sys, long nanos) throws ErrnoException {
    call("prctl", "PR_SET_TIMERSLACK " + nanos, () -> sys.prctl(PR_SET_TIMERSLACK, nanos, 0, 0, 0));
  }

  /** Sends a signal to a process, or to a process group by its negated id. */
  public static void kill(Sys sys, int pid, int signal) throws ErrnoException {
    call("kill", Signo.name(signal) + " to " + pid, () -> sys.kill(pid, signal));
  }

  /** Sends a signal with a value; realtime signals queue up, with EAGAIN when the queue is full. */
  public static void queue(Sys sys, int pid, int signal, int value) throws ErrnoException {
    // The value is a union of int and pointer, in which the int is the low half.
    call(
        "sigqueue",
        Signo.name(signal) + " to " + pid,
        () -> sys.sigqueue(pid, signal, Integer.toUnsignedLong(value)));
  }

  /** Waits for a child without a {@link PidFd} to end, and discards its exit status. */
  static void reap(Sys sys, int pid) throws ErrnoException {
    call("waitid", "process " + pid, () -> sys.waitid(P_PID, pid, MemorySegment.NULL, WEXITED));
  }
}
