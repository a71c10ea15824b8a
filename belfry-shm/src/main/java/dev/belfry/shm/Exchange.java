package dev.belfry.shm;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A link for any number of threads: its two halves, and its end. */
final class Exchange {
  private final Link link;
  private final Sending sending;
  private final Receiving receiving;

  /**
   * A link.
   *
   * @param bell where to sleep if the peer might not wake a futex, else null
   */
  Exchange(Link link, @Nullable Doorbell bell) {
    this(link, bell, () -> false);
  }

  /**
   * A link that not every thread may wait for.
   *
   * @param mustNotWait whether the thread that asks is refused, because it would stop the loop
   */
  Exchange(Link link, @Nullable Doorbell bell, BooleanSupplier mustNotWait) {
    this.link = link;
    var waiting = new BellWait(bell, mustNotWait);
    this.sending = new Sending(link, waiting);
    this.receiving = new Receiving(link, waiting);
  }

  Link link() {
    return link;
  }

  Sending sending() {
    return sending;
  }

  Receiving receiving() {
    return receiving;
  }

  /**
   * Takes both turns, so that nobody touches the link until {@link #endQuiet}; false if somebody is
   * using it. For a link that is over: whoever waits is woken and leaves.
   */
  boolean tryQuiet() {
    if (!sending.turn().tryTake()) {
      return false;
    }
    if (!receiving.turn().tryTake()) {
      sending.turn().end();
      return false;
    }
    return true;
  }

  /**
   * Waits until nobody uses the link and does {@link #end}; false after the deadline. For a link
   * that is over: whoever waits is woken and leaves.
   */
  boolean endWhenQuiet(long deadlineNanos) {
    if (!sending.turn().take(deadlineNanos)) {
      return false;
    }
    try {
      if (!receiving.turn().take(deadlineNanos)) {
        return false;
      }
      end();
      receiving.turn().end();
      return true;
    } finally {
      sending.turn().end();
    }
  }

  /** The entry may soon be another's: this link lets nobody touch it. With both turns taken. */
  void end() {
    sending.turn().makePointless();
    receiving.turn().makePointless();
    link.channels().end(); // whose users need no turn
  }

  void endQuiet() {
    receiving.turn().end();
    sending.turn().end();
  }

  /** Wakes threads of ours that sleep on a futex, because the peer may only have rung. */
  void passRingOn() {
    receiving.wakeBlocked();
    sending.wakeBlocked();
  }
}
