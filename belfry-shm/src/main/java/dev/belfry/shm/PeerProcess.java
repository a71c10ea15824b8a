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
 * What a host knows about the process of a guest: it is a child; or a stranger, identified by the
 * mutex it holds; or all that is known is that its entry is locked; or nothing yet. A stranger that
 * releases its mutex or lock is done with its entry, and counts as ended. Confined to the loop
 * thread unless stated otherwise.
 */
final class PeerProcess {
  private static final System.Logger LOG = System.getLogger(PeerProcess.class.getName());

  /** How often to search for the process of a stranger that was not found. */
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
   * Whether the mutex, or the lock where there is no mutex, was ever held. Foreign peers never take
   * the lock, and one that has just walked in does not hold it yet: so they cannot lose it.
   */
  private boolean held;

  private boolean ended;

  /** The owner of the mutex whose process was not found, and when to search again. */
  private int unseen;

  private long nextSearch;

  /**
   * Creates one that knows nothing yet.
   *
   * @param segment what a stranger has mapped
   * @param mutex identifies a stranger; null if there is none
   * @param lock identifies a stranger where there is no mutex
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

  /** Whether the end of the process will be noticed. */
  boolean isKnown() {
    return process != null || (mutex == null && held);
  }

  boolean isChild() {
    GuestProcess known = process;
    return known != null && known.isChild();
  }

  /** How the process ended; null before that, and for strangers. */
  @Nullable ExitStatus status() {
    return status;
  }

  /** Whether the mutex, or the lock where there is no mutex, is held. */
  boolean showsLife() {
    return mutex != null ? GuestProcess.owner(mutex) != 0 : isLocked();
  }

  /**
   * Whether the mutex is not held and its owner has not died holding it; or the lock is not held.
   */
  private boolean isFree() {
    if (mutex == null) {
      return !isLocked();
    }
    boolean free = GuestProcess.isFree(mutex);
    if (free) {
      segment.checkIntact(); // a fault may have made it look so
    }
    return free;
  }

  private boolean isLocked() {
    try {
      return lock.isHeld();
    } catch (ErrnoException e) {
      LOG.log(Level.DEBUG, "cannot see whether a guest lives", e); // for each look
      return held; // no news as far as we know
    }
  }

  /** Called when the process was spawned here. */
  void started(PidFd child) {
    process = GuestProcess.child(sys, child);
    loop.child(child).start(this::childEnded);
  }

  private void childEnded(Operation<? extends ExitStatus> exit) {
    if (ended) {
      return; // it was abandoned and reaped
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
        killAndReap(); // if it lived on, it could write into an entry that belongs to another guest
        end();
      }
      case STOPPED -> {} // the loop ends; closing the host does the rest
    }
  }

  /** Identifies a stranger, and finds out whether it has ended, which nothing reports. */
  void look() {
    GuestProcess known = process;
    if (ended || (known != null && known.isChild())) {
      return;
    }
    if (known != null && known.hasEnded()) { // first: the rest reads memory, perhaps truncated
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

  /** Kills the process if it is a child that is still alive. */
  void kill() {
    GuestProcess known = process;
    if (known != null && known.isChild() && !ended) {
      known.kill();
    }
  }

  /** Kills a child that is still alive after some time. */
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

  /** Kills a child, waits for it without the loop, and stops watching it. */
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

  /** Releases the timer and the process handle. */
  void close() {
    killLimit.cancel();
    GuestProcess known = process;
    if (known != null) {
      known.close();
    }
  }
}
