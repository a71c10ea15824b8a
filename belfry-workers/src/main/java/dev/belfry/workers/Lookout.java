package dev.belfry.workers;

import dev.belfry.linux.Sys;
import dev.belfry.shm.Awaited;
import dev.belfry.shm.Peer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Decides which thread receives a worker's answers. One caller at a time takes the turn and
 * receives for all, so that its own answer need not wait for the pool's loop to wake. If no caller
 * does, the doorbell wakes the loop.
 */
final class Lookout {
  /** How long a caller sleeps with the turn taken, at a stretch. */
  private static final long STRETCH_NANOS = 50_000_000;

  /**
   * How long a caller stays awake at most: longer than most short calls take, because going to
   * sleep and being woken costs more than such a call.
   */
  private static final long MAX_PATIENCE_NANOS = 50_000;

  /** After a sleep shorter than this, wake-up included, staying awake might have been cheaper. */
  private static final long SHORT_SLEEP_NANOS = 200_000;

  private final Sys sys = Sys.forAnyThread();
  private final Peer peer;
  private final CallTable table;
  private final BooleanSupplier isRoomWanted;

  /**
   * The number of callers that are awake and will look for answers, each once more after it has
   * left this count. While it is above zero, no one else need be told of an answer.
   */
  private final AtomicInteger patient = new AtomicInteger();

  /** How long they stay awake: halved by each long sleep, restored by a short one. */
  private volatile long patienceNanos = MAX_PATIENCE_NANOS;

  /**
   * Whether an answer would go unnoticed, because neither a notice nor room was wanted when the
   * last caller gave back the turn. Guarded by the table.
   */
  private boolean deaf;

  /**
   * A lookout for one worker.
   *
   * @param isRoomWanted whether a caller waits for a call to leave the table
   */
  Lookout(Peer peer, CallTable table, BooleanSupplier isRoomWanted) {
    this.peer = peer;
    this.table = table;
    this.isRoomWanted = isRoomWanted;
  }

  /** Tries to take the turn, which lasts until {@link #end}; false if another thread has it. */
  boolean begin() {
    return peer.tryReceiving();
  }

  /**
   * Gives back the turn. The next to look is a caller that is awake; if there is none, the loop,
   * provided that a notice or room is wanted.
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
      // A caller may have left the count while the turn was taken, and not got the turn. One that
      // leaves from now on gets it.
      if (patient.get() > 0 || !begin()) {
        return;
      }
    }
    endAtBell();
  }

  /**
   * Leaves the ring to the loop, and to a caller that sleeps until its answer comes, if there is
   * one.
   */
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

  /** Takes the answers that have arrived, if they would go unnoticed. */
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

  /** Ensures that the answers to the calls now in the table are noticed. */
  void listen() {
    synchronized (table) {
      if (!deaf) {
        return; // the thread with the turn, or a patient caller, checks again in end()
      }
      deaf = false;
    }
    peer.listen();
  }

  /**
   * Waits for a call: looks for answers, and yields between two looks, when another caller may
   * look.
   *
   * @return false if the caller should park
   */
  boolean await(Call call) {
    if (begin()) {
      return lookAndEnd(call);
    }
    patient.incrementAndGet();
    return stayPatient(call);
  }

  /** Does {@link #await} with the turn already taken, and gives it back. */
  boolean lookAndEnd(Call call) {
    boolean waits = false;
    try {
      peer.receiveBriefly(call::isDone);
      waits = !call.isDone();
      if (waits) {
        patient.incrementAndGet(); // before end(), or the worker would ring the doorbell
      }
    } finally {
      end();
    }
    return !waits || stayPatient(call);
  }

  /**
   * Waits on as one of the patient callers. None of them keeps the turn while it yields: the others
   * could not get on without it, and would only yield in their turn.
   */
  private boolean stayPatient(Call call) {
    long began = System.nanoTime();
    boolean last;
    try {
      do {
        sys.schedYield(); // the worker may need this processor to answer
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
    // A thread that gave back the turn meanwhile may have relied on this caller to look.
    if (begin()) {
      return Thread.currentThread().isVirtual() ? lookOnceAndEnd(call) : sleepAndEnd(call);
    }
    return call.isDone();
  }

  /** Looks with the turn taken, gives it back, and returns whether the call has ended. */
  private boolean lookOnceAndEnd(Call call) {
    try {
      peer.receiveBriefly(call::isDone);
    } finally {
      end();
    }
    return call.isDone();
  }

  /**
   * Waits with the turn taken, asleep if it takes long, and gives it back. Not for virtual threads,
   * which would pin their carriers.
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

  /** Adapts the patience to how long a caller slept until its call ended. */
  void slept(long nanos) {
    patienceNanos = nanos < SHORT_SLEEP_NANOS ? MAX_PATIENCE_NANOS : patienceNanos / 2;
  }
}
