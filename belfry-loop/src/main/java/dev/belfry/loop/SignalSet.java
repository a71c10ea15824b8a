package dev.belfry.loop;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.SignalMask;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Signals that a program can wait for. A signal that cannot be read from a descriptor is rejected,
 * with the reason. Not thread-safe. Methods that take a set use its contents at the time of the
 * call.
 *
 * {@snippet :
 * SignalSet ending = SignalSet.of(Signo.INT, Signo.TERM);
 * }
 */
// r[impl sig.await.api]
public final class SignalSet {
  private static final SigSet FAULTS =
      SigSet.of(Signo.ILL, Signo.TRAP, Signo.BUS, Signo.FPE, Signo.SEGV, Signo.SYS);

  /** Reserved by the C library. */
  private static final SigSet LIBRARY = SigSet.range(32, 33);

  /** The JDK uses it to wake threads that block in socket calls. */
  private static final int JDK_WAKE_UP = 62;

  private SigSet signals = SigSet.EMPTY;

  private SignalSet() {}

  /** A set of the given signals, possibly none. */
  public static SignalSet of(int... signums) {
    var set = new SignalSet();
    IntStream.of(signums).forEach(set::add);
    return set;
  }

  /** A set of the same signals. */
  public static SignalSet of(SigSet signals) {
    return of(signals.signals().toArray());
  }

  /**
   * Adds a signal.
   *
   * @return this set
   * @throws IllegalArgumentException if there is no such signal, or it cannot be waited for
   */
  public SignalSet add(int signum) {
    SigSet more = signals.with(signum);
    refusal(signum)
        .ifPresent(
            reason -> {
              throw new IllegalArgumentException(
                  "%s (%d) cannot be waited for: %s".formatted(Signo.name(signum), signum, reason));
            });
    signals = more;
    return this;
  }

  /**
   * Removes a signal.
   *
   * @return this set
   */
  public SignalSet remove(int signum) {
    signals = signals.without(signum);
    return this;
  }

  /** Whether the signal is in the set. */
  public boolean contains(int signum) {
    return signals.contains(signum);
  }

  /** Whether the set is empty. */
  public boolean isEmpty() {
    return signals.isEmpty();
  }

  /** The signals that are in the set now. */
  public SigSet toSigSet() {
    return signals;
  }

  /** The set as a {@code sigset_t}: 128 bytes, in which bit {@code n - 1} is signal {@code n}. */
  public MemorySegment toNative(SegmentAllocator allocator) {
    return signals.toNative(allocator);
  }

  /**
   * Blocks these signals in the calling thread, in addition to those it has blocked already. They
   * must be blocked in every thread of the process: this method is for threads that other code has
   * started.
   *
   * @throws IllegalStateException on a virtual thread, which has no mask of its own
   */
  // r[impl sig.mask.main]
  public void blockInThisThread() throws ErrnoException {
    if (Thread.currentThread().isVirtual()) {
      throw new IllegalStateException(
          "a virtual thread has no signal mask: block the signals in platform threads");
    }
    SignalMask.block(Sys.forAnyThread(), signals);
  }

  // r[impl sig.attach]
  private static Optional<String> refusal(int signum) {
    if (signum == Signo.KILL || signum == Signo.STOP) {
      return Optional.of("the kernel lets nobody handle it");
    }
    if (FAULTS.contains(signum)) {
      return Optional.of("it belongs to the thread whose instruction failed, and the JVM needs it");
    }
    if (LIBRARY.contains(signum)) {
      return Optional.of("the C library uses it");
    }
    if (signum == JDK_WAKE_UP) {
      return Optional.of("the JDK wakes threads with it that block in socket calls");
    }
    // A suspend signal of USR2 is not refused here: attach says how to move it.
    if (signum == SignalLaunch.suspendSignal() && signum != Signo.USR2) {
      return Optional.of("this JVM suspends threads with it (_JAVA_SR_SIGNUM)");
    }
    return Optional.empty();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SignalSet set && set.signals.equals(signals);
  }

  @Override
  public int hashCode() {
    return signals.hashCode();
  }

  @Override
  public String toString() {
    return signals.toString();
  }
}
