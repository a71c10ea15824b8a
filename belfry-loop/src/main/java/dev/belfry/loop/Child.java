package dev.belfry.loop;

import static dev.belfry.linux.Errno.ESRCH;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.Sys;
import java.util.Optional;

/** A child process, and how to learn its exit status. */
interface Child<T> {
  /** Opens a descriptor that becomes readable when the child has ended. */
  Fd open(Sys sys) throws ErrnoException;

  /** How the child ended, once that is known. */
  Optional<T> status() throws ErrnoException;

  /** Whether the child is gone, so that no event will report its end any more. */
  boolean isGone();

  /**
   * A child of the JDK, which reaps it on a thread of its own. The descriptor only tells when the
   * child has ended; the exit code, or 128 plus the number of the signal that ended it, comes from
   * the JDK a moment later.
   */
  record OfJava(Process process) implements Child<Integer> {
    @Override
    public Fd open(Sys sys) throws ErrnoException {
      try {
        return PidFd.open(sys, Math.toIntExact(process.pid())).fd();
      } catch (ErrnoException e) {
        if (e.errno() != ESRCH) {
          throw e;
        }
        // Ended and reaped. A descriptor that never becomes readable takes its place, as if the pid
        // had been reused by another process. In both cases isGone() is true.
        return PidFd.open(sys, Math.toIntExact(ProcessHandle.current().pid())).fd();
      }
    }

    @Override
    public Optional<Integer> status() {
      return process.isAlive() ? Optional.empty() : Optional.of(process.exitValue());
    }

    /** The handle compares start times, so another process with a reused pid is not our child. */
    @Override
    public boolean isGone() {
      return !process.toHandle().isAlive();
    }

    @Override
    public String toString() {
      return "process " + process.pid();
    }
  }

  /** A child that we spawned and have to reap. */
  final class OfOurs implements Child<ExitStatus> {
    private final PidFd process;

    /** Kept, because a child can be reaped only once. */
    private Optional<ExitStatus> reaped = Optional.empty();

    OfOurs(PidFd process) {
      this.process = process;
    }

    @Override
    public Fd open(Sys sys) throws ErrnoException {
      return FdFlags.duplicate(sys, process.number());
    }

    @Override
    public Optional<ExitStatus> status() throws ErrnoException {
      if (reaped.isEmpty()) {
        reaped = process.reap();
      }
      return reaped;
    }

    @Override
    public boolean isGone() {
      return false; // its pidfd stays readable until it is closed
    }

    @Override
    public String toString() {
      return "process " + process.pid();
    }
  }
}
