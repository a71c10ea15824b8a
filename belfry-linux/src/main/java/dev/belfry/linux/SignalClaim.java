package dev.belfry.linux;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Sees to it that each signal has one reader in a process. Two signalfds that ask for the same
 * signal would each get some of its deliveries, and nobody could say which. Whoever reads signals
 * takes a claim first; the newest open claim on a signal holds it, and when that one is closed, the
 * one before it gets the signal back. In between, the signal waits in the kernel.
 */
public final class SignalClaim implements AutoCloseable {
  /** Open claims, oldest first; guarded by itself. */
  private static final List<SignalClaim> OPEN = new ArrayList<>();

  private final SigSet wanted;
  private final Consumer<SigSet> onChange;
  private SigSet held = SigSet.EMPTY;

  private SignalClaim(SigSet wanted, Consumer<SigSet> onChange) {
    this.wanted = wanted;
    this.onChange = onChange;
  }

  /**
   * Takes signals over from whoever holds them.
   *
   * @param wanted the signals
   * @param onChange is told the signals this claim holds from now on, whenever that changes: at
   *     first all that are wanted, then fewer or more as others come and go. Called on the thread
   *     that brought the change, one call at a time; it updates a signalfd and does no more
   */
  public static SignalClaim take(SigSet wanted, Consumer<SigSet> onChange) {
    var claim = new SignalClaim(wanted, onChange);
    synchronized (OPEN) {
      OPEN.add(claim);
      try {
        settle();
      } catch (Throwable failure) {
        OPEN.remove(claim); // nobody could close it any more
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

  /** Gives the signals back to whoever held them before; a second call does nothing. */
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
    if (signals.bits() != held.bits()) { // the first equals of a record takes long
      held = signals;
      onChange.accept(signals);
    }
  }
}
