package dev.belfry.bench.timers;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.concurrent.TimeUnit;

/** Netty's hashed wheel with a tick of one millisecond, its finest, and its default 512 spokes. */
final class WheelTimers extends ThreadedTimers<Timeout> {
  private final HashedWheelTimer wheel = new HashedWheelTimer(1, TimeUnit.MILLISECONDS, 512);

  WheelTimers() {
    wheel.start();
  }

  @Override
  Timeout arm(Runnable action, long delayNanos) {
    return wheel.newTimeout(_ -> action.run(), delayNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  void cancel(Timeout timer) {
    timer.cancel();
  }

  @Override
  public void close() {
    wheel.stop();
  }
}
