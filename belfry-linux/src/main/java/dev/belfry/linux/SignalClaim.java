package dev.belfry.linux;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Ensures that each signal has one reader in the process. If two signalfds asked for the same
 * signal, each would get an arbitrary part of its deliveries. So every reader first takes a claim.
 * The newest open claim on a signal holds it; when it is closed, the previous one gets the signal
 * back. In between, the signal stays pending in the kernel.
 */
public final class SignalClaim implements AutoCloseable {
  /** The open claims, oldest first; guarded by itself. */
  private static final List<SignalClaim> OPEN = new ArrayList<>();

  private final SigSet wanted;
  private final Consumer<SigSet> onChange;
  private SigSet held = SigSet.EMPTY;

  private SignalClaim(SigSet wanted, Consumer<SigSet> onChange) {
    this.wanted = wanted;
    this.onChange = onChange;
  }

  /**
   * Takes signals over from the claims that hold them.
   *
   * @param wanted the signals
   * @param onChange receives the signals that this claim holds, whenever they change: at first all
   *     wanted ones, then fewer or more as other claims come and go. Called on the thread that
   *     caused the change, one call at a time; it should only update a signalfd
   */
  public static SignalClaim take(SigSet wanted, Consumer<SigSet> onChange) {
    var claim = new SignalClaim(wanted, onChange);
    synchronized (OPEN) {
      OPEN.add(claim);
      try {
        settle();
      } catch (Throwable failure) {
        OPEN.remove(claim); // the caller has nothing to close
        settle();
        throw failure;
      }
    }
    return claim;
  }

  /** The signals this claim holds now. */
  public SigSet held() {
    synchronized (OPEN) {
      return held;
    }
  }

  /** Gives the signals back to the previous claims; a second call does nothing. */
  @Override
  public void close() {
    synchronized (OPEN) {
      if (OPEN.remove(this)) {
        grant(SigSet.EMPTY);
        settle();
      }
    }
  }

  /**
   * Claims that lose a signal are told before the one that gains it, so that it never has two
   * readers: only a new claim takes signals away, and it comes last.
   */
  private static void settle() {
    var due = new SigSet[OPEN.size()];
    SigSet taken = SigSet.EMPTY;
    for (int i = OPEN.size() - 1; i >= 0; i--) {
      due[i] = OPEN.get(i).wanted.minus(taken);
      taken = taken.union(due[i]);
    }
    for (int i = 0; i < due.length; i++) {
      OPEN.get(i).grant(due[i]);
    }
  }

  private void grant(SigSet signals) {
    if (signals.bits() != held.bits()) { // the first equals() of a record is slow
      held = signals;
      onChange.accept(signals);
    }
  }
}
