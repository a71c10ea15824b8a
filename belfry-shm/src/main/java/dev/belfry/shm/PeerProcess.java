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
 * the mutex it holds, or only that somebody has locked the entry, or nothing yet. A stranger that
 * gives back what it held has done with its entry, and is as good as ended. On the loop thread,
 * unless said otherwise.
 */
final class PeerProcess {
  private static final System.Logger LOG = System.getLogger(PeerProcess.class.getName());

  /** How often to look for the process of a stranger that was not found. */
  private static final long SEARCH_NANOS = 1_000_000_000;

  private final Sys sys;
  private final EventLoop loop;
  private final Segment segment;
  private final MappedFile mapped;
  private final @Nullable RobustMutex mutex;
  private final EntryLock lock;
  private final Runnable onEnd;
  private final TimerOperation killLimit;
  private volatile @Nullable GuestProcess process;
  private @Nullable ExitStatus status;

  /**
   * Whether the mutex, or the lock where there is none, was ever held. Peers of other makes never
   * hold the lock, and one that has just walked in does not hold it yet: so they cannot lose it.
   */
  private boolean held;

  private boolean ended;

  /** The owner of the mutex that was no process of ours to see, and when to look once more. */
  private int unseen;

  private long nextSearch;

  /**
   * Nothing is known yet.
   *
   * @param segment what a stranger has mapped
   * @param mutex what a stranger is known by; null where there is none
   * @param lock what a stranger is known by where there is no mutex
   * @param onEnd called once, when the process has ended
   */
  PeerProcess(
      EventLoop loop,
      Segment segment,
      @Nullable RobustMutex mutex,
      EntryLock lock,
      Runnable onEnd) {
    this.sys = segment.sys();
    this.loop = loop;
    this.segment = segment;
    this.mapped = new MappedFile(segment.memory().mapping().address());
    this.mutex = mutex;
    this.lock = lock;
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
    return process != null || (mutex == null && held);
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

  /** Whether nobody holds the mutex or has died with it; or the same of the lock. */
  private boolean isFree() {
    if (mutex == null) {
      return !isLocked();
    }
    boolean free = GuestProcess.isFree(mutex);
    if (free) {
      segment.checkIntact(); // it may be a fault that has made it look so
    }
    return free;
  }

  private boolean isLocked() {
    try {
      return lock.isHeld();
    } catch (ErrnoException e) {
      LOG.log(Level.DEBUG, "cannot see whether a guest lives", e); // at every look
      return held; // nothing has changed as far as we know
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
    if (known != null && known.hasEnded()) { // this first: the other needs memory, which may be cut
      end();
      return;
    }
    boolean free = isFree();
    if (held && free) {
      end();
      return;
    }
    held |= !free;
    if (known == null && mutex != null) {
      search(mutex);
    }
  }

  private void search(RobustMutex owned) {
    int owner = GuestProcess.owner(owned);
    long now = System.nanoTime();
    if (owner == 0 || (owner == unseen && now - nextSearch < 0)) {
      return;
    }
    process = GuestProcess.ownerOf(sys, owned, mapped);
    unseen = owner;
    nextSearch = now + SEARCH_NANOS;
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
