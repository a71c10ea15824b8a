package dev.belfry.shm;

import dev.belfry.loop.TimerOperation;
import java.lang.System.Logger.Level;

/**
 * The host's regular look at its guests, on the loop thread: for those that do not ring. While
 * nobody has to be polled it comes round twenty times a second. A guest without a bell is looked at
 * in every turn of the loop while there is traffic, then after pauses that double up to a
 * millisecond.
 */
final class Rounds {
  private static final System.Logger LOG = System.getLogger(Rounds.class.getName());
  private static final long USUAL_PAUSE_NANOS = 50_000_000;
  private static final long STRANGER_PAUSE_NANOS = 2_000_000;
  private static final long FIRST_PAUSE_NANOS = 1_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000;

  /** How many looks find nothing before there are pauses between them. */
  private static final int EAGER_LOOKS = 64;

  private final ShmHost host;
  private final TimerOperation timer;
  private int idleLooks;
  private long pause = FIRST_PAUSE_NANOS;
  private boolean stopped;

  /** Whether the last round failed; nobody wants to read that the next has failed alike. */
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
    } catch (RuntimeException | Error e) { // go on: nobody else looks
      LOG.log(failing ? Level.DEBUG : Level.ERROR, "while looking after the guests", e);
      failing = true;
    }
    if (!stopped) {
      timer.afterNanos(next).start(_ -> round());
    }
  }

  /** Looks at all; says after which pause to look again. */
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
      // Nobody can come any more, and those who are there are each looked at.
    }
  }
}
