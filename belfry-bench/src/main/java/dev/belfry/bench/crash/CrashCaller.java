package dev.belfry.bench.crash;

import dev.belfry.workers.CallException;
import dev.belfry.workers.CallOptions;
import dev.belfry.workers.Delivery;
import dev.belfry.workers.WorkerPool;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.BitSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls without pause, alternating between the delivery policies, and records how the calls end.
 */
final class CrashCaller implements Runnable {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  /** How much later than its deadline a call may end. */
  static final Duration LATEST = DEADLINE.plusSeconds(1);

  private static final Delivery[] BY_TURNS = {Delivery.AT_LEAST_ONCE, Delivery.AT_MOST_ONCE};

  private final WorkerPool pool;
  private final String method;
  private final int index;
  private final int callers;
  private final Supplier<@Nullable Kill> lastKill;
  private final Tally atLeastOnce = new Tally();
  private final Tally atMostOnce = new Tally();
  private final BitSet answered = new BitSet();
  private volatile long count;
  private volatile boolean stopped;

  CrashCaller(
      WorkerPool pool, String method, int index, int callers, Supplier<@Nullable Kill> lastKill) {
    this.pool = pool;
    this.method = method;
    this.index = index;
    this.callers = callers;
    this.lastKill = lastKill;
  }

  /** Stops after the call in progress. */
  void stop() {
    stopped = true;
  }

  /** How many calls have ended. */
  long count() {
    return count;
  }

  /** The outcome of the calls; after the end. */
  Tally tally(Delivery delivery) {
    return delivery == Delivery.AT_LEAST_ONCE ? atLeastOnce : atMostOnce;
  }

  @Override
  public void run() {
    try {
      for (long turn = 0; !stopped; turn++) {
        call(turn);
        count = turn + 1;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void call(long turn) throws InterruptedException {
    Delivery delivery = BY_TURNS[(int) (turn % BY_TURNS.length)];
    Tally tally = tally(delivery);
    byte[] payload = ByteBuffer.allocate(Long.BYTES).putLong(turn * callers + index).array();
    long began = System.nanoTime();
    int answeredBy = 0;
    try {
      byte[] answer =
          pool.call(
              method, payload, CallOptions.DEFAULT.withDelivery(delivery).withDeadline(DEADLINE));
      answeredBy = ByteBuffer.wrap(answer).getInt();
      answered.set((int) turn);
    } catch (CallException e) {
      tally.failed++;
    }
    long ended = System.nanoTime();
    tally.calls++;
    if (ended - began > LATEST.toNanos()) {
      tally.lost++;
    }
    Kill kill = lastKill.get();
    if (kill != null && kill.isWithin(began, ended) && answeredBy != kill.pid()) {
      tally.added.recordValue(ended - kill.atNanos());
    }
  }

  /** Compares the effects with the answers; after the end. */
  void check(Effects effects) {
    for (int turn = 0; turn < count; turn++) {
      Tally tally = tally(BY_TURNS[turn % BY_TURNS.length]);
      int number = turn * callers + index;
      if (effects.isTwice(number)) {
        tally.duplicates++;
      }
      if (answered.get(turn) && !effects.isThere(number)) {
        tally.withoutEffect++;
      }
    }
  }
}
