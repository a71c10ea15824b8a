package dev.belfry.shm;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A link for any number of threads: its two halves, and its end. */
final class Exchange {
  private final Link link;
  private final Sending sending;
  private final Receiving receiving;

  /**
   * Wraps a link.
   *
   * @param bell the bell to sleep at if the peer might not wake a futex, else null
   */
  Exchange(Link link, @Nullable Doorbell bell) {
    this(link, bell, () -> false);
  }

  /**
   * Wraps a link that some threads must not wait for.
   *
   * @param mustNotWait whether the calling thread is refused, because blocking it would stop the
   *     loop
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
   * Takes both turns, so that no other thread touches the link until {@link #endQuiet}; returns
   * false if one is using it. For a link that is over: its waiters are woken and leave.
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
   * Waits until no thread uses the link, then calls {@link #end}; returns false if the deadline
   * passes first. For a link that is over: its waiters are woken and leave.
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

  /**
   * Stops all use of the entry, which may soon belong to another guest. The caller has both turns.
   */
  void end() {
    sending.turn().makePointless();
    receiving.turn().makePointless();
    link.channels().end(); // their users need no turn
  }

  void endQuiet() {
    receiving.turn().end();
    sending.turn().end();
  }

  /** Wakes our threads that sleep on a futex, because the peer may only have rung. */
  void passRingOn() {
    receiving.wakeBlocked();
    sending.wakeBlocked();
  }
}
