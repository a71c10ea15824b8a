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

  private final Sys sys;
  private final SignalFd signals;

  /** Becomes readable when the JVM begins to shut down. */
  private final EventFd shutdown;

  /** Only touched by the watching thread, as is the next one. */
  private boolean exiting;

  private long exitingSinceNanos;

  private EndingSignals(Sys sys, SignalFd signals, EventFd shutdown) {
    this.sys = sys;
    this.signals = signals;
    this.shutdown = shutdown;
  }

  /**
   * Watches for those signals that can be read: blocked in all threads. Those that are not keep
   * their usual effect, and HUP is left alone where it was ignored from the start, as under nohup.
   */
  static void start(Sys sys) throws ErrnoException {
    SigSet readable = readable(sys);
    if (readable.isEmpty()) {
      return;
    }
    SignalFd signals = SignalFd.open(sys, SigSet.EMPTY);
    var watch = new EndingSignals(sys, signals, openShutdown(sys, signals));
    Thread.ofPlatform().daemon().name("belfry-signals").start(watch::watch);
    Runtime.getRuntime()
        .addShutdownHook(
            Thread.ofPlatform().name("belfry-shutdown").unstarted(watch.shutdown::signal));
    SignalClaim.take(readable, held -> update(signals, held));
  }

  private static SigSet readable(Sys sys) throws ErrnoException {
    try {
      SigSet readable = ENDING;
      for (ThreadSignals thread : ThreadSignals.ofThisProcess()) {
        SigSet unblocked = SigSet.ALL.minus(thread.blocked());
        readable = readable.minus(unblocked);
        if (thread.ignored().contains(Signo.HUP)) {
          readable = readable.without(Signo.HUP);
        }
      }
      return readable;
    } catch (IOException noProc) {
      // This thread stands for all: what the launcher has blocked is blocked everywhere.
      SigSet blocked = SignalMask.block(sys, SigSet.EMPTY);
      return ENDING.minus(SigSet.ALL.minus(blocked));
    }
  }

  private static void update(SignalFd signals, SigSet held) {
    try {
      signals.update(held);
    } catch (ErrnoException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static EventFd openShutdown(Sys sys, SignalFd signals) throws ErrnoException {
    try {
      return EventFd.create(sys);
    } catch (ErrnoException e) {
      signals.close();
      throw e;
    }
  }

  private void watch() {
    try (Arena arena = Arena.ofConfined()) {
      var either = new PollSet(sys, 2);
      either.set(0, shutdown.number(), PollSet.IN);
      either.set(1, signals.number(), PollSet.IN);
      var records = new SignalRecords(arena, 8);
      while (either.happened(0) == 0) {
        either.await(Futex.FOREVER);
        read(records);
      }
      while (true) {
        LockSupport.parkNanos(SHUTDOWN_PAUSE_NANOS);
        read(records);
      }
    }
  }

  private void read(SignalRecords records) {
    int count = signals.read(records);
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
