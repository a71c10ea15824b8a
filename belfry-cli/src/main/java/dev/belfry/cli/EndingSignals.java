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
 * Ends the program on HUP, INT and TERM with exit code 128 plus the signal's number, and on QUIT
 * after a thread dump. A JVM whose signals are blocked does none of this by itself.
 *
 * <p>A thread of its own reads the signals, so they work whatever the rest of the program does. The
 * first signal exits in the ordinary way, with shutdown hooks; another INT or TERM meanwhile halts
 * at once. A service that handles the signals itself takes a {@link SignalClaim}; when it closes
 * the claim, the signals come back here.
 */
final class EndingSignals {
  private static final SigSet ENDING = SigSet.of(Signo.HUP, Signo.INT, Signo.QUIT, Signo.TERM);

  /**
   * A signal that follows within this time belongs to the same request: {@code timeout(1)} signals
   * its child and then the whole group, and a key that is held down repeats.
   */
  private static final long SAME_REQUEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /**
   * How long to sleep between reads of the signals while the JVM shuts down. At exit, the JVM waits
   * up to 300 milliseconds for threads in native code. A thread that blocks in poll would cost
   * every command that time.
   */
  private static final long SHUTDOWN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /**
   * How long the command runs before its signals are watched. Setting up the watch takes as long as
   * most commands, which have ended by then. An earlier signal stays pending in the kernel.
   */
  private static final long HEAD_START_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Supplier<Sys> sys;

  /** The signals not claimed by a service. Guarded by this, as are the next two fields. */
  private SigSet held = SigSet.EMPTY;

  /** The signals that a signalfd cannot deliver, and HUP if it must stay ignored. */
  private SigSet unreadable = SigSet.EMPTY;

  /** Null until opened. */
  private @Nullable SignalFd signals;

  /** Becomes readable when the JVM begins to shut down; null until opened. */
  private volatile @Nullable EventFd shutdown;

  private volatile boolean isShuttingDown;

  /** Confined to the watching thread, as is the next field. */
  private boolean exiting;

  private long exitingSinceNanos;

  private EndingSignals(Supplier<Sys> sys) {
    this.sys = sys;
  }

  /**
   * Watches for the signals that are blocked in all threads; only those can be read. The others
   * keep their usual effect. HUP is left alone if it was ignored from the start, as under nohup.
   */
  static void start(Supplier<Sys> sys) {
    var watch = new EndingSignals(sys);
    SignalClaim.take(ENDING, watch::hold); // now: a later claim would displace a service's
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
      // This thread's mask stands for all: what the launcher blocks is blocked in every thread.
      return SigSet.ALL.minus(SignalMask.block(calls, SigSet.EMPTY));
    }
  }

  private void shutDown() {
    isShuttingDown = true;
    EventFd opened = shutdown;
    if (opened != null) { // else the watch has not begun, and will see isShuttingDown
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
      // Without a reader of its signals the program could no longer be ended.
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

  /** Exits on another thread: hooks may hang, and the next signal must still be read. */
  private static void exit(int exitCode) {
    try {
      Thread.ofPlatform().name("belfry-exit").start(() -> System.exit(exitCode));
    } catch (OutOfMemoryError noThread) {
      Runtime.getRuntime().halt(exitCode);
    }
  }
}
