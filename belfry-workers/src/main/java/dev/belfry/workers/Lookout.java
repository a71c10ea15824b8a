package dev.belfry.workers;

import dev.belfry.shm.Awaited;
import dev.belfry.shm.Peer;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Who looks for the answers of a worker: one caller at a time does, for all, so that its own answer
 * need not wait for the pool's loop to wake; if none does, the loop is told by the bell.
 */
final class Lookout {
  /** How long a caller looks at a stretch. */
  private static final long LOOK_NANOS = 50_000_000;

  /**
   * How long a caller stays awake while another looks: longer than most calls that are short at
   * all, as to sleep and be woken costs more than such a call.
   */
  private static final long PATIENCE_NANOS = 50_000;

  private final Peer peer;
  private final CallTable table;
  private final Object tableLock;

  /** How many callers are awake and would look at once if nobody did. */
  private final AtomicInteger patient = new AtomicInteger();

  /**
   * Nobody would hear of an answer, as none was expected when the last caller left; with the lock
   * of the table.
   */
  private boolean deaf;

  Lookout(Peer peer, CallTable table, Object tableLock) {
    this.peer = peer;
    this.table = table;
    this.tableLock = tableLock;
  }

  /** Whether this caller looks from now on, until {@link #end}; if not, another does. */
  boolean begin() {
    return peer.tryReceiving();
  }

  /** Takes answers until that of a call has come, or for a while. */
  Awaited look(Call call, long nowNanos) {
    long until = Math.min(call.deadlineNanos, nowNanos + LOOK_NANOS);
    return peer.receiveUntil(call::isDone, until);
  }

  /** Lets another look; if nobody can, the loop takes the answers, if there are to be any. */
  void end() {
    Call next;
    synchronized (tableLock) {
      next = table.anyWaiting();
      deaf = table.size() == 0;
      if (deaf) {
        peer.endReceivingDeaf();
        return;
      }
    }
    peer.endReceiving();
    if (next != null && patient.get() == 0) {
      next.nudge();
    }
  }

  /** Sees to it that somebody hears of the answer to a call that is in the table by now. */
  void listen() {
    synchronized (tableLock) {
      if (!deaf) {
        return; // whoever looks now sees, when it ends, that there is something to be expected
      }
      deaf = false;
    }
    peer.listen();
  }

  /**
   * Waits for a call awake: looks, or lets others run while one of them does.
   *
   * @return false if the caller had better sleep
   */
  boolean await(Call call) {
    // Once more after the patience is over: whoever left meanwhile may have relied on this caller.
    boolean looks = beginPatiently(call) || (!call.isDone() && begin());
    if (!looks) {
      return call.isDone();
    }
    try {
      return look(call, System.nanoTime()) != Awaited.OVER;
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
