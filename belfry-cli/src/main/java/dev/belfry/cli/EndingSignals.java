package dev.belfry.cli;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.EventFd;
import dev.belfry.linux.Futex;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalClaim;
import dev.belfry.linux.SignalFd;
import dev.belfry.linux.SignalMask;
import dev.belfry.linux.SignalRecords;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.linux.ThreadSignals;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends the program on HUP, INT and TERM with 128 plus the signal's number, and on QUIT after a
 * thread dump. With its signals blocked a JVM does none of that by itself.
 *
 * <p>A thread of its own waits for them, so they work whatever the rest of the program does. The
 * first one exits in the ordinary way, with shutdown hooks; another INT or TERM during that halts
 * at once. A service that wants the signals for itself takes a {@link SignalClaim}, and this gets
 * them back when that is closed.
 */
final class EndingSignals {
  private static final SigSet ENDING = SigSet.of(Signo.HUP, Signo.INT, Signo.QUIT, Signo.TERM);

  /**
   * What follows this soon is the same request: {@code timeout(1)} sends a signal to its child and
   * then to the whole group, and a key that is held down repeats.
   */
  private static final long SAME_REQUEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /**
   * How long to sleep between looks at the signals while the JVM shuts down. A JVM that ends gives
   * threads in native code 300 milliseconds to leave it, and one that waits for signals never
   * would: every command would end that much later.
   */
  private static final long SHUTDOWN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /**
   * How long the command runs before anybody watches. To set that up takes as long as most commands
   * do, and one that has ended needs none of it. A signal that comes before waits in the kernel.
   */
  private static final long HEAD_START_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Supplier<Sys> sys;

  /** What nobody else has claimed; guarded by this, as are the next two. */
  private SigSet held = SigSet.EMPTY;

  /** What never arrives at a descriptor, or has to be left alone. */
  private SigSet unreadable = SigSet.EMPTY;

  /** Null until it is opened. */
  private @Nullable SignalFd signals;

  /** Becomes readable when the JVM begins to shut down; null until it is opened. */
  private volatile @Nullable EventFd shutdown;

  private volatile boolean isShuttingDown;

  /** Only touched by the watching thread, as is the next one. */
  private boolean exiting;

  private long exitingSinceNanos;

  private EndingSignals(Supplier<Sys> sys) {
    this.sys = sys;
  }

  /**
   * Watches for those signals that can be read: blocked in all threads. Those that are not keep
   * their usual effect, and HUP is left alone where it was ignored from the start, as under nohup.
   */
  static void start(Supplier<Sys> sys) {
    var watch = new EndingSignals(sys);
    SignalClaim.take(ENDING, watch::hold); // at once, or it would take them from a service
    Runtime.getRuntime()
        .addShutdownHook(Thread.ofPlatform().name("belfry-shutdown").unstarted(watch::shutDown));
    Thread.ofPlatform().daemon().name("belfry-signals").start(watch::watch);
  }

  private synchronized void hold(SigSet now) {
    held = now;
    if (signals != null) {
      try {
        signals.update(held.minus(unreadable));
      } catch (ErrnoException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private synchronized SignalFd openSignals(Sys calls) throws ErrnoException {
    unreadable = unreadable(calls);
    SignalFd opened = SignalFd.open(calls, held.minus(unreadable));
    signals = opened;
    return opened;
  }

  private static SigSet unreadable(Sys calls) throws ErrnoException {
    try {
      SigSet unreadable = SigSet.EMPTY;
      for (ThreadSignals thread : ThreadSignals.ofThisProcess()) {
        unreadable = unreadable.union(SigSet.ALL.minus(thread.blocked()));
        if (thread.ignored().contains(Signo.HUP)) {
          unreadable = unreadable.with(Signo.HUP);
        }
      }
      return unreadable;
    } catch (IOException noProc) {
      // This thread stands for all: what the launcher has blocked is blocked everywhere.
      return SigSet.ALL.minus(SignalMask.block(calls, SigSet.EMPTY));
    }
  }

  private void shutDown() {
    isShuttingDown = true;
    EventFd opened = shutdown;
    if (opened != null) { // else the watch has yet to begin, and will see that it is too late
      opened.signal();
    }
  }

  private void watch() {
    LockSupport.parkNanos(HEAD_START_NANOS);
    try {
      Sys calls = sys.get();
      SignalFd ending = openSignals(calls);
      EventFd end = EventFd.create(calls);
      shutdown = end;
      watch(calls, ending, end);
    } catch (ErrnoException e) {
      System.err.println(
          "belfry: cannot watch for signals, only SIGKILL will end this command early: "
              + e.getMessage());
    }
  }

  private void watch(Sys calls, SignalFd ending, EventFd end) {
    try (Arena arena = Arena.ofConfined()) {
      var either = new PollSet(calls, 2);
      either.set(0, end.number(), PollSet.IN);
      either.set(1, ending.number(), PollSet.IN);
      var records = new SignalRecords(arena, 8);
      while (!isShuttingDown) {
        either.await(Futex.FOREVER);
        read(ending, records);
      }
      while (true) {
        LockSupport.parkNanos(SHUTDOWN_PAUSE_NANOS);
        read(ending, records);
      }
    }
  }

  private void read(SignalFd ending, SignalRecords records) {
    int count = ending.read(records);
    for (int i = 0; i < count; i++) {
      act(records.signo(i));
    }
    if (count < 0 && count != -Errno.EAGAIN) {
      // Without its reader the program could not be ended any more.
      System.err.println("belfry: cannot read signals (" + Errno.name(-count) + "), ending");
      Runtime.getRuntime().halt(1);
    }
  }

  private void act(int signal) {
    int exitCode = 128 + signal;
    if (signal == Signo.QUIT) {
      ThreadDump.printAndHalt(exitCode);
    } else if (!exiting) {
      exiting = true;
      exitingSinceNanos = System.nanoTime();
      exit(exitCode);
    } else if (signal != Signo.HUP && System.nanoTime() - exitingSinceNanos > SAME_REQUEST_NANOS) {
      Runtime.getRuntime().halt(exitCode);
    }
  }

  /** Exits on another thread, because hooks may hang and the next signal must still be read. */
  private static void exit(int exitCode) {
    try {
      Thread.ofPlatform().name("belfry-exit").start(() -> System.exit(exitCode));
    } catch (OutOfMemoryError noThread) {
      Runtime.getRuntime().halt(exitCode);
    }
  }
}
