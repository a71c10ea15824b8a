package dev.belfry.shm;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Futex;
import dev.belfry.linux.FutexSet;
import dev.belfry.linux.RobustMutex;
import dev.belfry.linux.Sys;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Watches the robust mutexes of guests for the death of their owners, which the kernel marks in
 * them before it frees the memory of the process. One thread sleeps on up to 127 of them; it never
 * locks any, it only asks to be woken. For any number of threads.
 */
final class MutexWatch implements AutoCloseable {
  private static final int MOST_WATCHED = FutexSet.MAX_WORDS - 1;

  /** How often to look at a mutex that is not locked, or where the kernel cannot watch several. */
  private static final long LOOK_NANOS = 20_000_000;

  private static final long POLL_NANOS = 1_000_000;
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  private final Sys sys;
  private final List<Group> groups = new ArrayList<>();

  MutexWatch(Sys sys) {
    this.sys = sys;
  }

  /** One mutex. */
  static final class Watched {
    private final MemorySegment word;
    private final Runnable died;
    private final Group group;

    private Watched(MemorySegment word, Runnable died, Group group) {
      this.word = word;
      this.died = died;
      this.group = group;
    }

    /** Watches it no longer; the notice may just be under way. */
    void forget() {
      group.remove(this);
    }
  }

  /**
   * Watches a mutex.
   *
   * @param died called once if its owner dies, on a thread of this watch
   */
  synchronized Watched watch(RobustMutex mutex, Runnable died) {
    for (Group group : groups) {
      Watched added = group.add(mutex.word(), died);
      if (added != null) {
        return added;
      }
    }
    var group = new Group(groups.size() + 1);
    groups.add(group);
    Watched added = group.add(mutex.word(), died);
    if (added == null) {
      throw new AssertionError("a new group is full");
    }
    group.thread.start();
    return added;
  }

  /** Ends all watching. */
  @Override
  public synchronized void close() {
    groups.forEach(Group::stop);
  }

  private final class Group {
    private final FutexSet words = new FutexSet(sys, FutexSet.MAX_WORDS);

    /** Counts the changes of the list; the first word of each wait. */
    private final MemorySegment changes = Arena.ofAuto().allocate(ValueLayout.JAVA_INT);

    private final List<Watched> list = new ArrayList<>();
    private final Thread thread;
    private volatile boolean stopped;

    Group(int number) {
      this.thread =
          Thread.ofPlatform().daemon().name("belfry-death-watch-" + number).unstarted(this::run);
    }

    synchronized @Nullable Watched add(MemorySegment word, Runnable died) {
      if (list.size() == MOST_WATCHED) {
        return null;
      }
      var watched = new Watched(word, died, this);
      list.add(watched);
      changed();
      return watched;
    }

    synchronized void remove(Watched watched) {
      if (list.remove(watched)) {
        changed();
      }
    }

    void stop() {
      stopped = true;
      changed();
    }

    private void changed() {
      int _ = (int) INT.getAndAdd(changes, 0L, 1);
      Futex.wake(sys, changes, 1);
    }

    private void run() {
      while (!stopped) {
        int change = (int) INT.getAcquire(changes, 0L);
        words.set(0, changes, change);
        int count = 1;
        boolean unlocked = false;
        for (Watched watched : snapshot()) {
          int value = askToBeWoken(watched.word);
          if ((value & RobustMutex.OWNER_DIED) != 0) {
            remove(watched);
            watched.died.run();
          } else {
            unlocked |= (value & RobustMutex.OWNER_MASK) == 0;
            words.set(count++, watched.word, value);
          }
        }
        long until = unlocked ? System.nanoTime() + LOOK_NANOS : Futex.FOREVER;
        int result = words.await(count, until);
        if (result < 0 && result != -Errno.EAGAIN && result != -Errno.ETIMEDOUT) {
          LockSupport.parkNanos(POLL_NANOS); // an old kernel, or a filter: looking has to do
        }
      }
    }

    private synchronized List<Watched> snapshot() {
      return List.copyOf(list);
    }

    /**
     * Sets the bit by which the kernel knows that somebody sleeps on the word, unless nobody owns
     * it.
     *
     * @return the value to sleep on
     */
    private int askToBeWoken(MemorySegment word) {
      while (true) {
        int value = (int) INT.getAcquire(word, 0L);
        boolean owned = (value & RobustMutex.OWNER_MASK) != 0;
        if (!owned || (value & RobustMutex.WAITERS) != 0) {
          return value;
        }
        if (INT.compareAndSet(word, 0L, value, value | RobustMutex.WAITERS)) {
          return value | RobustMutex.WAITERS;
        }
      }
    }
  }
}
