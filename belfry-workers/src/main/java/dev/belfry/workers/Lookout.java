package dev.belfry.workers;

import dev.belfry.shm.Awaited;
import dev.belfry.shm.Peer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Decides who looks for the answers of a worker: one caller at a time, for all, so that its own
 * answer need not wait for the pool's loop to wake; if no caller does, the bell tells the loop.
 */
final class Lookout {
  /** How long a caller looks at a stretch. */
  private static final long LOOK_NANOS = 50_000_000;

  /**
   * How long a caller stays awake while another looks: longer than most short calls take, because
   * going to sleep and being woken costs more than such a call.
   */
  private static final long PATIENCE_NANOS = 50_000;

  private final Peer peer;
  private final CallTable table;
  private final BooleanSupplier isRoomWanted;

  /** How many callers are awake and would look at once if nobody did. */
  private final AtomicInteger patient = new AtomicInteger();

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

  /** Takes answers until that of a call has come, or for a while. */
  Awaited look(Call call) {
    long until = Math.min(call.deadlineNanos, call.nowNanos() + LOOK_NANOS);
    return peer.receiveUntil(call::isDone, until);
  }

  /** Lets another look; if nobody can, the loop takes the answers, if anybody is to be told. */
  void end() {
    Call next;
    synchronized (table) {
      deaf = !table.isAnyNoticeWanted() && !isRoomWanted.getAsBoolean();
      if (deaf) {
        peer.endReceivingDeaf();
        return;
      }
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
        peer.receiveUntil(() -> false, System.nanoTime());
      } finally {
        end();
      }
    }
  }

  /** Sees to it that somebody hears of the answers to the calls that are in the table by now. */
  void listen() {
    synchronized (table) {
      if (!deaf) {
        return; // whoever looks now will see, on leaving, that an answer is expected
      }
      deaf = false;
    }
    peer.listen();
  }

  /**
   * Waits for a call without sleeping: looks, or lets others run while one of them does.
   *
   * @return false if the caller had better sleep
   */
  boolean await(Call call) {
    // Once more after the patience is over: whoever left meanwhile may have relied on this caller.
    boolean looks = begin() || beginPatiently(call) || (!call.isDone() && begin());
    if (!looks) {
      return call.isDone();
    }
    try {
      return look(call) != Awaited.OVER;
    } finally {
      end();
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // others have work to do, and it is they who are awaited
  private boolean beginPatiently(Call call) {
    patient.incrementAndGet();
    try {
      long until = System.nanoTime() + PATIENCE_NANOS;
      do {
        if (begin()) {
          return true;
        }
        Thread.yield();
      } while (!call.isDone() && System.nanoTime() - until < 0);
      return false;
    } finally {
      patient.decrementAndGet();
    }
  }
}
