package dev.belfry.shm;

import dev.belfry.loop.TimerOperation;
import java.lang.System.Logger.Level;

/**
 * The host's periodic look at its guests, on the loop thread, for those that do not ring. By
 * default a round comes twenty times a second. While a guest has to be polled, rounds follow each
 * other in every turn of the loop as long as there is traffic, then after pauses that double up to
 * a millisecond.
 */
final class Rounds {
  private static final System.Logger LOG = System.getLogger(Rounds.class.getName());
  private static final long USUAL_PAUSE_NANOS = 50_000_000;
  private static final long STRANGER_PAUSE_NANOS = 2_000_000;
  private static final long FIRST_PAUSE_NANOS = 1_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000;

  /** The number of looks in vain before pauses begin. */
  private static final int EAGER_LOOKS = 64;

  private final ShmHost host;
  private final TimerOperation timer;
  private int idleLooks;
  private long pause = FIRST_PAUSE_NANOS;
  private boolean stopped;

  /** Whether the last round failed; repeated failures are logged at a lower level. */
  private boolean failing;

  Rounds(ShmHost host) {
    this.host = host;
    this.timer = host.loop().scheduler().at(0);
  }

  /** Any thread. */
  void start() {
    timer.afterNanos(0).start(_ -> round());
  }

  void stop() {
    stopped = true;
    timer.cancel();
  }

  private void round() {
    if (stopped || host.loop().isStopRequested()) {
      return;
    }
    long next = USUAL_PAUSE_NANOS;
    try {
      next = look();
      failing = false;
    } catch (RuntimeException | Error e) { // go on: these rounds are the only ones to look
      LOG.log(failing ? Level.DEBUG : Level.ERROR, "while looking after the guests", e);
      failing = true;
    }
    if (!stopped) {
      timer.afterNanos(next).start(_ -> round());
    }
  }

  /** Looks at all guests; returns the pause before the next round. */
  // r[impl shm.doorbell.optional]
  private long look() {
    lookForWalkIns();
    boolean polled = false;
    boolean some = false;
    boolean strangerDies = false;
    for (PeerLife life : host.roster().all()) {
      boolean found = life.lookAround();
      if (life.isPolled()) {
        polled = true;
        some |= found;
      }
      strangerDies |= life.isDyingStranger();
    }
    long next = polled ? pollPause(some) : USUAL_PAUSE_NANOS;
    return strangerDies ? Math.min(next, STRANGER_PAUSE_NANOS) : next;
  }

  private long pollPause(boolean some) {
    if (some) {
      idleLooks = 0;
      pause = FIRST_PAUSE_NANOS;
    }
    if (idleLooks < EAGER_LOOKS) {
      idleLooks++;
      return 0;
    }
    pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
    return pause;
  }

  private void lookForWalkIns() {
    try {
      for (int id = 1; id <= host.segment().config().maxGuests(); id++) {
        if (!host.roster().has(id) && host.segment().peers().isVisited(id)) {
          host.welcome(id);
        }
      }
    } catch (InternalError cut) {
      // No guest can walk in any more, and each present guest is looked at on its own.
    }
  }
}
