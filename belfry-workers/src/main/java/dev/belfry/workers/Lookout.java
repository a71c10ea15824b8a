package dev.belfry.workers;

import dev.belfry.linux.Sys;
import dev.belfry.shm.Awaited;
import dev.belfry.shm.Peer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Decides who looks for the answers of a worker: one caller at a time, for all, so that its own
 * answer need not wait for the pool's loop to wake; if no caller does, the bell tells the loop.
 */
final class Lookout {
  /** How long a caller waits with the turn taken, at a stretch. */
  private static final long STRETCH_NANOS = 50_000_000;

  /**
   * How long a caller stays awake: longer than most short calls take, because going to sleep and
   * being woken costs more than such a call.
   */
  private static final long MAX_PATIENCE_NANOS = 50_000;

  /** A sleep of less than this, wake-up included, is one instead of which it may pay to wait. */
  private static final long SHORT_SLEEP_NANOS = 200_000;

  private final Sys sys = Sys.forAnyThread();
  private final Peer peer;
  private final CallTable table;
  private final BooleanSupplier isRoomWanted;

  /**
   * How many callers are awake and will look, each once more after it has left their number: so as
   * long as there is one, nobody else need hear of an answer.
   */
  private final AtomicInteger patient = new AtomicInteger();

  /** How long they stay so: less with each sleep that was long, until one is short again. */
  private volatile long patienceNanos = MAX_PATIENCE_NANOS;

  /**
   * Whether nobody would hear of an answer, because nobody was to be told of one when the last
   * caller left; guarded by the table.
   */
  private boolean deaf;

  /**
   * A lookout for one worker.
   *
   * @param isRoomWanted whether somebody waits until a call leaves the table
   */
  Lookout(Peer peer, CallTable table, BooleanSupplier isRoomWanted) {
    this.peer = peer;
    this.table = table;
    this.isRoomWanted = isRoomWanted;
  }

  /** Whether this caller looks from now on, until {@link #end}; if not, another does. */
  boolean begin() {
    return peer.tryReceiving();
  }

  /**
   * Gives the turn back. Who looks next is a caller that is awake, or if there is none the loop, if
   * anybody is to be told.
   */
  void end() {
    synchronized (table) {
      deaf = !table.isAnyNoticeWanted() && !isRoomWanted.getAsBoolean();
      if (deaf) {
        peer.endReceivingDeaf();
        return;
      }
    }
    if (patient.get() > 0) {
      peer.endReceivingDeaf();
      // One of them may have stopped waiting while the turn was taken, and looked in vain. Whoever
      // does so from now on gets it.
      if (patient.get() > 0 || !begin()) {
        return;
      }
    }
    endAtBell();
  }

  /** Leaves it to the loop, and to a caller that sleeps until its answer comes, if there is one. */
  private void endAtBell() {
    Call next;
    synchronized (table) {
      next = table.anyAwaited();
    }
    peer.endReceiving();
    if (next != null && patient.get() == 0) {
      next.nudge();
    }
  }

  /** Takes the answers that are there, if nobody would hear of them. */
  void takeUnheard() {
    synchronized (table) {
      if (!deaf) {
        return;
      }
    }
    if (begin()) {
      try {
        peer.receiveBriefly(() -> false);
      } finally {
        end();
      }
    }
  }

  /** Sees to it that somebody hears of the answers to the calls that are in the table by now. */
  void listen() {
    synchronized (table) {
      if (!deaf) {
        return; // whoever looks, or is patient and will, sees on leaving what is expected
      }
      deaf = false;
    }
    peer.listen();
  }

  /**
   * Waits for a call: looks, and lets others run between two looks, one of whom may look meanwhile.
   *
   * @return false if the caller had better sleep
   */
  boolean await(Call call) {
    if (begin()) {
      return lookAndEnd(call);
    }
    patient.incrementAndGet();
    return stayPatient(call);
  }

  /** Does {@link #await} after {@link #begin}, and gives the turn back. */
  boolean lookAndEnd(Call call) {
    boolean waits = false;
    try {
      peer.receiveBriefly(call::isDone);
      waits = !call.isDone();
      if (waits) {
        patient.incrementAndGet(); // before the turn is given back, or the worker would ring
      }
    } finally {
      end();
    }
    return !waits || stayPatient(call);
  }

  /**
   * Waits on, as one of the patient. Nobody keeps the turn while others run: they could not get on
   * with it taken, and would only let others run in their turn.
   */
  private boolean stayPatient(Call call) {
    long began = System.nanoTime();
    boolean last;
    try {
      do {
        sys.schedYield(); // others have work to do, and it is they who are awaited
        if (!call.isDone() && begin()) {
          lookOnceAndEnd(call);
        }
      } while (!call.isDone() && System.nanoTime() - began < patienceNanos);
    } finally {
      last = patient.decrementAndGet() == 0;
    }
    if (call.isDone() && !last) {
      return true;
    }
    // Whoever gave the turn back meanwhile may have relied on this caller.
    if (begin()) {
      return Thread.currentThread().isVirtual() ? lookOnceAndEnd(call) : sleepAndEnd(call);
    }
    return call.isDone();
  }

  /** Looks with the turn taken, gives it back, and says whether the call has ended. */
  private boolean lookOnceAndEnd(Call call) {
    try {
      peer.receiveBriefly(call::isDone);
    } finally {
      end();
    }
    return call.isDone();
  }

  /**
   * Waits with the turn taken, and so asleep if it takes long; gives the turn back. Not for virtual
   * threads, whose carrier would sleep with them.
   */
  private boolean sleepAndEnd(Call call) {
    long began = System.nanoTime();
    try {
      long until = Math.min(call.deadlineNanos, began + STRETCH_NANOS);
      return peer.receiveUntil(call::isDone, until) != Awaited.OVER;
    } finally {
      end();
      slept(System.nanoTime() - began);
    }
  }

  /** A caller has slept so long until its call had ended. */
  void slept(long nanos) {
    patienceNanos = nanos < SHORT_SLEEP_NANOS ? MAX_PATIENCE_NANOS : patienceNanos / 2;
  }
}
