package dev.belfry.workers;

import dev.belfry.loop.EventLoop;
import dev.belfry.loop.Operation;
import dev.belfry.loop.TimerOperation;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a pool does once a second while its loop runs: ends overdue calls, including started ones
 * for which no thread waits, and reads the meters. For the loop thread.
 */
final class EverySecond {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final Crew crew;
  private final CallMeter meter;
  private final TimerOperation timer;

  EverySecond(EventLoop loop, Crew crew, CallMeter meter) {
    this.crew = crew;
    this.meter = meter;
    this.timer = loop.scheduler().after(SECOND);
  }

  void start() {
    timer.start(this::secondIsOver);
  }

  private void secondIsOver(Operation<? extends @Nullable Void> second) {
    if (second.hasValue()) { // otherwise the loop has stopped
      start(); // first, or an error below would be the end of it
      crew.all().forEach(worker -> worker.calls().endOverdue());
      meter.turn(crew.all().stream().map(PooledWorker::latencies).toList(), System.nanoTime());
    }
  }
}
