package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

final class LoopMetricsTest {

  @EveryBackend
  void turnsPostsAndQueueDepthAreCounted(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      LoopMetrics metrics = loop.metrics();
      assertThat(metrics.turns()).isZero();
      assertThat(metrics.isAsleep()).isTrue();
      for (int i = 0; i < 640; i++) {
        loop.scheduler().execute(() -> {});
      }
      loop.runSome();
      assertThat(metrics.turns()).isEqualTo(1);
      assertThat(metrics.posted()).isEqualTo(640);
      assertThat(metrics.maxQueueDepth()).isEqualTo(640);
      assertThat(metrics.taskTime().count()).isEqualTo(10); // one in 64
      assertThat(metrics.wakeUpsSent()).isZero();
      assertThat(metrics.wakeUpsSaved()).isEqualTo(640);
      assertThat(metrics.acceptsPostponed()).isZero();
    }
  }

  @EveryBackend
  void wakeUpsAndTheirEventsAreCounted(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      LoopMetrics metrics = driven.loop().metrics();
      for (int i = 0; i < 50; i++) {
        driven.asleep(); // posts one task each time
      }
      LoopSupport.await(() -> metrics.posted() == 50 && metrics.events() > 0);
      assertThat(metrics.wakeUpsSent()).isBetween(1L, 50L);
      assertThat(metrics.wakeUpsSaved()).isEqualTo(50 - metrics.wakeUpsSent());
      assertThat(metrics.events()).isLessThanOrEqualTo(metrics.wakeUpsSent());
      assertThat(metrics.turns()).isPositive();
    }
  }

  // Regression: each of them hid a post that had needed none.
  @EveryBackend
  void wakeUpsWithoutAPostLeaveTheSavedOnesAlone(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(backend, tap)) {
      LoopMetrics metrics = loop.metrics();
      var stop = new StopSource();
      WaitLog.of(tap, stop::requestStop); // when the loop is about to sleep
      assertThat(loop.run(RunMode.STOPPED, stop.token())).isEqualTo(Outcome.STOPPED);
      assertThat(metrics.wakeUpsSent()).isEqualTo(1);
      loop.scheduler().execute(() -> {});
      loop.runSome();
      assertThat(metrics.wakeUpsSaved()).isEqualTo(1);
    }
  }

  @EveryBackend
  void theLagOfTimersIsKept(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var fired = new AtomicInteger();
      loop.scheduler().at(System.nanoTime() - 50_000_000).start(_ -> fired.incrementAndGet());
      loop.scheduler().after(Duration.ofMillis(1)).start(_ -> fired.incrementAndGet());
      LoopSupport.drive(loop, () -> fired.get() == 2);
      LatencyHistogram lag = loop.metrics().timerLag();
      assertThat(lag.count()).isEqualTo(2);
      assertThat(lag.percentile(1)).isGreaterThanOrEqualTo(50_000_000);
    }
  }
}
