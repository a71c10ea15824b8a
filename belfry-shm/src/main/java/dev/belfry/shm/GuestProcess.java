package dev.belfry.shm;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.Processes;
import dev.belfry.linux.RobustMutex;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The process of a guest: our child, or a stranger that walked in and is identified by the mutex it
 * holds.
 */
// r[impl shm.death.process-handle]
final class GuestProcess implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(GuestProcess.class.getName());
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  private static final String TGID = "Tgid:";

  private final Sys sys;
  private final PidFd pidFd;
  private final boolean child;
  private final PollSet pollSet;

  private GuestProcess(Sys sys, PidFd pidFd, boolean child) {
    this.sys = sys;
    this.pidFd = pidFd;
    this.child = child;
    this.pollSet = new PollSet(sys, 1);
  }

  static GuestProcess child(Sys sys, PidFd pidFd) {
    return new GuestProcess(sys, pidFd, true);
  }

  /**
   * The process of the thread that holds a mutex; null if no thread holds it, or if the process is
   * not visible from here. The thread id of a guest in another PID namespace may belong to any
   * process here, so only a process that has mapped the segment is taken for the guest.
   */
  static @Nullable GuestProcess ownerOf(Sys sys, RobustMutex mutex, MappedFile segment) {
    int thread = owner(mutex);
    if (thread == 0) {
      return null;
    }
    try {
      // The name of the process may be any bytes.
      Path status = Path.of("/proc/" + thread + "/status");
      for (String line : Files.readAllLines(status, ISO_8859_1)) {
        if (line.startsWith(TGID)) {
          int pid = Integer.parseInt(line.substring(TGID.length()).strip());
          var process = new GuestProcess(sys, PidFd.open(sys, pid), false);
          boolean isGuest = false;
          try {
            // If so, it was alive when the pidfd was opened, and the pid had not been reused.
            isGuest = segment.isMappedBy(pid) && owner(mutex) == thread;
          } finally {
            if (!isGuest) {
              process.close();
            }
          }
          return isGuest ? process : null;
        }
      }
    } catch (IOException | NumberFormatException unknown) {
      // Already gone, or in another PID namespace.
    }
    return null;
  }

  /** The id of the thread that holds a mutex; 0 if none does. */
  static int owner(RobustMutex mutex) {
    return word(mutex) & RobustMutex.OWNER_MASK;
  }

  /** Whether no thread holds a mutex, nor has died holding it. */
  static boolean isFree(RobustMutex mutex) {
    return (word(mutex) & (RobustMutex.OWNER_MASK | RobustMutex.OWNER_DIED)) == 0;
  }

  private static int word(RobustMutex mutex) {
    return (int) INT.getAcquire(mutex.word(), 0L);
  }

  int pid() {
    return pidFd.pid();
  }

  PidFd pidFd() {
    return pidFd;
  }

  /** Whether we have spawned the process, so that it may be killed and must be reaped. */
  boolean isChild() {
    return child;
  }

  /** Whether the process has ended; for strangers, which we cannot reap. */
  boolean hasEnded() {
    pollSet.set(0, pidFd.number(), PollSet.IN);
    return pollSet.await(System.nanoTime()) > 0;
  }

  /** Kills a child with its process group, and so everything it has started. */
  void kill() {
    try {
      pidFd.sendSignal(Signo.KILL);
      Processes.kill(sys, -pidFd.pid(), Signo.KILL); // not reaped yet: still its own group
    } catch (ErrnoException e) {
      LOG.log(Level.DEBUG, "process " + pidFd.pid() + " has ended by itself", e);
    }
  }

  @Override
  public void close() {
    pidFd.close();
  }
}
