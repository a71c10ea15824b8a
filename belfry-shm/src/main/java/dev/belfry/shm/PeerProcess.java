package dev.belfry.shm;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.RobustMutex;
import dev.belfry.linux.Sys;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.Operation;
import dev.belfry.loop.TimerOperation;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What a host knows of the process of a guest: a child of its own, or a stranger that is known by
 * the mutex it holds, or only that somebody has locked the entry, or nothing yet. On the loop
 * thread, unless said otherwise.
 */
final class PeerProcess {
  private static final System.Logger LOG = System.getLogger(PeerProcess.class.getName());

  /** How often to look for the process of a stranger that was not found. */
  private static final long SEARCH_NANOS = 1_000_000_000;

  private final Sys sys;
  private final EventLoop loop;
  private final @Nullable RobustMutex mutex;
  private final EntryLock lock;
  private final MappedFile segment;
  private final Runnable onEnd;
  private final TimerOperation killLimit;
  private volatile @Nullable GuestProcess process;
  private @Nullable ExitStatus status;

  /** Whether the lock was held; peers of other makes never hold it, so they cannot lose it. */
  private boolean locked;

  private boolean ended;

  /** The owner of the mutex that was no process of ours to see, and when to look once more. */
  private int unseen;

  private long nextSearch;

  /**
   * Nothing is known yet.
   *
   * @param mutex what a stranger is known by; null where there is none
   * @param lock what a stranger is known by where there is no mutex
   * @param segment what a stranger has mapped
   * @param onEnd called once, when the process has ended
   */
  PeerProcess(
      Sys sys,
      EventLoop loop,
      @Nullable RobustMutex mutex,
      EntryLock lock,
      MappedFile segment,
      Runnable onEnd) {
    this.sys = sys;
    this.loop = loop;
    this.mutex = mutex;
    this.lock = lock;
    this.segment = segment;
    this.onEnd = onEnd;
    this.killLimit = loop.scheduler().at(0);
  }

  /** Any thread. */
  OptionalInt pid() {
    GuestProcess known = process;
    return known == null ? OptionalInt.empty() : OptionalInt.of(known.pid());
  }

  /** Whether its end will be known. */
  boolean isKnown() {
    return process != null || locked;
  }

  boolean isChild() {
    GuestProcess known = process;
    return known != null && known.isChild();
  }

  /** How it ended; null as long as it has not, and for strangers. */
  @Nullable ExitStatus status() {
    return status;
  }

  /** Whether somebody holds the mutex, or the lock where there is none. */
  boolean showsLife() {
    return mutex != null ? GuestProcess.owner(mutex) != 0 : isLocked();
  }

  private boolean isLocked() {
    try {
      return lock.isHeld();
    } catch (ErrnoException e) {
      LOG.log(Level.DEBUG, "cannot see whether a guest lives", e); // at every look
      return locked; // nothing has changed as far as we know
    }
  }

  /** It was started here. */
  void started(PidFd child) {
    process = GuestProcess.child(sys, child);
    loop.child(child).start(this::childEnded);
  }

  private void childEnded(Operation<? extends ExitStatus> exit) {
    if (ended) {
      return; // it was abandoned, and is reaped
    }
    switch (exit.outcome()) {
      case VALUE -> {
        try {
          status = exit.result();
        } catch (IOException impossible) {
          throw new AssertionError(impossible);
        }
        end();
      }
      case ERROR -> {
        LOG.log(Level.ERROR, "cannot wait for a guest", exit.error());
        killAndReap(); // if it lived on, its entry would be another's while it writes there
        end();
      }
      case STOPPED -> {} // the loop ends; the host's close does the rest
    }
  }

  /** Finds out who a stranger is, and whether it has ended, which nobody tells us. */
  void look() {
    GuestProcess known = process;
    if (ended || (known != null && known.isChild())) {
      return;
    }
    if (known != null) {
      endIf(known.hasEnded());
    } else if (mutex != null) {
      search(mutex);
    } else {
      boolean held = isLocked();
      endIf(locked && !held);
      locked |= held;
    }
  }

  private void search(RobustMutex held) {
    int owner = GuestProcess.owner(held);
    long now = System.nanoTime();
    if (owner == 0 || (owner == unseen && now - nextSearch < 0)) {
      return;
    }
    process = GuestProcess.ownerOf(sys, held, segment);
    unseen = owner;
    nextSearch = now + SEARCH_NANOS;
  }

  private void endIf(boolean gone) {
    if (gone) {
      end();
    }
  }

  private void end() {
    ended = true;
    onEnd.run();
  }

  /** Kills a child that still lives. */
  void kill() {
    GuestProcess known = process;
    if (known != null && known.isChild() && !ended) {
      known.kill();
    }
  }

  /** Kills a child that still lives after some time. */
  void killAfter(Duration limit) {
    killLimit
        .after(limit)
        .start(
            timer -> {
              if (timer.hasValue()) {
                kill();
              }
            });
  }

  /** Kills a child, waits for it without the loop, and looks at it no more. */
  void abandon() {
    killAndReap();
    ended = true;
    close();
  }

  private void killAndReap() {
    GuestProcess known = process;
    if (known != null && known.isChild() && !ended) {
      known.kill();
      try {
        status = known.pidFd().awaitExit();
      } catch (ErrnoException reaped) {
        LOG.log(Level.DEBUG, "it was reaped before", reaped);
      }
    }
  }

  /** Nothing of it is needed any more. */
  void close() {
    killLimit.cancel();
    GuestProcess known = process;
    if (known != null) {
      known.close();
    }
  }
}
