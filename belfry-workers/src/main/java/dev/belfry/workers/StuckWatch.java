package dev.belfry.workers;

import dev.belfry.loop.EventLoop;
import dev.belfry.loop.TimerOperation;
import dev.belfry.shm.Peer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Watches what a worker does with an abandoned call. The worker counts as stuck if it goes on with
 * the call for too long after it has read the cancel message. A worker that has not got round to
 * reading the message, because it is busy with earlier calls, is left alone as long as it makes
 * progress or one of those calls is still wanted. For the loop thread.
 */
final class StuckWatch {
  private static final int LOOKS = 10;
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(100);

  private final PooledWorker worker;
  private final long call;
  private final long limitNanos;
  private final Runnable stuck;
  private final TimerOperation pause;

  /**
   * Whether the worker was sent the cancel message, and how many messages it had been sent by then.
   */
  private boolean told;

  private int toldAt;

  /** Whether it has read the cancel message. */
  private boolean read;

  /**
   * When the worker last made progress, or had an earlier call that was wanted. Fixed once it has
   * read the cancel message.
   */
  private long sinceNanos = System.nanoTime();

  private int readCount;
  private long answered;

  /**
   * Creates a watch.
   *
   * @param told whether the worker has been sent the cancel message
   * @param stuck what to do if the worker is stuck
   */
  StuckWatch(
      EventLoop loop,
      PooledWorker worker,
      long call,
      boolean told,
      Duration limit,
      Runnable stuck) {
    this.worker = worker;
    this.call = call;
    this.limitNanos = TimeUnit.NANOSECONDS.convert(limit);
    this.stuck = stuck;
    Duration part = limit.dividedBy(LOOKS);
    this.pause = loop.scheduler().after(part.compareTo(LONGEST_PAUSE) < 0 ? part : LONGEST_PAUSE);
    this.told = told;
    this.toldAt = worker.peer().sentCount();
  }

  void start() {
    pause.start(
        timer -> {
          if (timer.hasValue()) {
            look();
          }
        });
  }

  private void look() {
    if (!worker.calls().isStillAt(call) || !worker.peer().isAttached()) {
      return;
    }
    if (!told) {
      told = worker.calls().cancel(call);
      toldAt = worker.peer().sentCount();
    }
    long now = System.nanoTime();
    if (!read && (hasMoved() || worker.calls().hasWantedBefore(call))) {
      sinceNanos = now;
    }
    if (now - sinceNanos >= limitNanos) {
      stuck.run();
    } else {
      start();
    }
  }

  /**
   * Whether the worker has read or answered anything since the last look; also updates {@link
   * #read}.
   */
  private boolean hasMoved() {
    Peer peer = worker.peer();
    int readBefore = readCount;
    long answeredBefore = answered;
    readCount = peer.readCount();
    answered = worker.answers();
    read = told && readCount - toldAt >= 0;
    return readCount != readBefore || answered != answeredBefore;
  }
}
