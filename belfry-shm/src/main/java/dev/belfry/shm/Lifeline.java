package dev.belfry.shm;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.EventFd;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The thread that shows this process's hosts that it is alive, and watches whether they are. It
 * lives as long as the process, because the parent-death signal belongs to the <em>thread</em> that
 * asked for it (prctl(2)). It does nothing but have mutexes held, write heartbeats, and poll bells
 * for a hang-up without reading them.
 */
final class Lifeline {
  /** How often to look at what changes without notice. */
  private static final long LOOK_NANOS = 500_000_000;

  private static final System.Logger LOG = System.getLogger(Lifeline.class.getName());

  private static @Nullable Lifeline instance;

  private final Sys sys;
  private final EventFd wake;
  private final ConcurrentLinkedQueue<Runnable> requests = new ConcurrentLinkedQueue<>();

  /** The guests of this process; confined to the lifeline's thread. */
  private final List<Hold> holds = new ArrayList<>();

  private Lifeline(Sys sys) throws ErrnoException {
    this.sys = sys;
    this.wake = EventFd.create(sys);
  }

  /** The lifeline of this process. */
  static synchronized Lifeline get(Sys sys) throws ErrnoException {
    if (instance == null) {
      var started = new Lifeline(sys);
      Thread.ofPlatform().daemon().name("belfry-lifeline").start(started::run);
      instance = started;
    }
    return instance;
  }

  /**
   * One guest of this process, as the lifeline sees it. All methods run on the lifeline's thread.
   */
  interface Hold {
    /** The bell whose hang-up reports the host's end, or null. */
    @Nullable Doorbell bell();

    /** Locks what reports our death. */
    void begin() throws ErrnoException;

    /** Unlocks it. */
    void end() throws ErrnoException;

    /** Looks at what changes without notice; returns the deadline of the next look. */
    long look();

    /** Called when the bell has hung up. */
    void hungUp();
  }

  /**
   * Starts to hold a guest; returns when that is done. After a failure call {@link #remove}, too.
   */
  void add(Hold hold) throws ErrnoException {
    call(
        () -> {
          holds.add(hold);
          hold.begin();
          return true;
        });
  }

  /** Lets go of a guest; returns when nothing of it is used any more. */
  void remove(Hold hold) throws ErrnoException {
    call(
        () -> {
          if (holds.remove(hold)) {
            hold.end();
          }
          return true;
        });
  }

  /**
   * Asks the kernel to kill this process when the thread that spawned it ends: the host's loop
   * thread.
   */
  void dieWithParent() throws ErrnoException {
    call(
        () -> {
          Processes.setParentDeathSignal(sys, Signo.KILL);
          return true;
        });
  }

  private void call(Callable<Boolean> action) throws ErrnoException {
    var done = new CompletableFuture<Boolean>();
    requests.add(
        () -> {
          try {
            done.complete(action.call());
          } catch (Throwable e) {
            done.completeExceptionally(e);
          }
        });
    wake.signal();
    try {
      done.join();
    } catch (CompletionException e) {
      switch (e.getCause()) {
        case ErrnoException errno -> throw errno;
        case RuntimeException unchecked -> throw unchecked;
        case Error fault -> throw fault;
        case null, default -> throw e;
      }
    }
  }

  private void run() {
    while (true) {
      try {
        turn();
      } catch (Throwable e) {
        LOG.log(Level.ERROR, "while watching over this process", e); // this must not end
      }
    }
  }

  private void turn() throws ErrnoException {
    wake.reset();
    for (Runnable request = requests.poll(); request != null; request = requests.poll()) {
      request.run();
    }
    long until = Deadlines.FOREVER;
    for (Hold hold : List.copyOf(holds)) {
      until = Deadlines.earlier(until, look(hold));
    }
    var pollSet = new PollSet(sys, holds.size() + 1);
    pollSet.set(0, wake.number(), PollSet.IN);
    for (int i = 0; i < holds.size(); i++) {
      Doorbell bell = holds.get(i).bell();
      pollSet.set(i + 1, bell == null ? -1 : bell.descriptor(), 0); // hang-ups are reported unasked
    }
    int result = pollSet.await(until);
    if (result < 0) {
      throw new ErrnoException("ppoll", -result, "doorbells");
    }
    for (int i = holds.size() - 1; i >= 0; i--) {
      if (pollSet.happened(i + 1) != 0) {
        hungUp(holds.get(i));
      }
    }
  }

  /** Looks at one guest; its failure, such as a fault on its memory, does not affect the others. */
  private static long look(Hold hold) {
    try {
      return hold.look();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "while showing a host that this guest lives", e);
      return nextLook();
    }
  }

  private static void hungUp(Hold hold) {
    try {
      hold.hungUp();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "while leaving a host that is gone", e);
    }
  }

  /** The deadline of the next look at what changes without notice. */
  static long nextLook() {
    return System.nanoTime() + LOOK_NANOS;
  }
}
