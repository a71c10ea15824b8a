package dev.belfry.workers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

final class CallMeterTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  @Test
  void aSecondHasTheCallsOfAllWorkersAlsoOfThoseThatHaveLeft() {
    var meter = new CallMeter(0);
    var first = new LatencyMeter();
    var second = new LatencyMeter();
    var left = new LatencyMeter();
    for (int i = 0; i < 98; i++) {
      (i % 2 == 0 ? first : second).record(5_000);
      meter.finished();
    }
    left.record(1_000_000);
    left.record(7_000_000);
    meter.finished();
    meter.finished();
    meter.keep(left);
    meter.turn(List.of(first, second), 2 * SECOND);

    assertThat(meter.last().callsPerSecond()).isEqualTo(50);
    Latency latency = meter.last().latency();
    assertThat(latency.p50Nanos()).isCloseTo(5_000, within(50L));
    assertThat(latency.p99Nanos()).isCloseTo(1_000_000, within(10_000L));
    assertThat(latency.maxNanos()).isCloseTo(7_000_000, within(70_000L));
    assertThat(latency.maxMicros()).isBetween(6_930L, 7_070L);
    assertThat(first.last().maxNanos()).isCloseTo(5_000, within(50L));

    meter.turn(List.of(first, second), 3 * SECOND);
    assertThat(meter.last().callsPerSecond()).isZero();
    assertThat(meter.last().latency()).isEqualTo(Latency.NONE);
    assertThat(first.last()).isEqualTo(Latency.NONE);
  }

  @Test
  void timesBeyondAllBoundsAreTakenForTheLongest() {
    var meter = new LatencyMeter();
    meter.record(Long.MAX_VALUE);
    meter.record(-1);
    meter.moveTo(LatencyMeter.newHistogram());
    assertThat(meter.last().maxNanos())
        .isCloseTo(TimeUnit.HOURS.toNanos(1), within(TimeUnit.MINUTES.toNanos(1)));
  }

  @Test
  void nothingIsLostWhileSomebodyLooks() throws InterruptedException {
    var meter = new LatencyMeter();
    Histogram sum = LatencyMeter.newHistogram();
    int calls = 1_000_000;
    Thread recording =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; i < calls; i++) {
                    meter.record(i);
                  }
                });
    while (recording.isAlive()) {
      meter.moveTo(sum);
    }
    meter.moveTo(sum);
    assertThat(sum.getTotalCount()).isEqualTo(calls);
  }

  @Test
  void recordingAllocatesNothing() {
    var meter = new LatencyMeter();
    var calls = new CallMeter(0);
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 10; round++) { // the first rounds load and compile classes
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 100_000; i++) {
        meter.record(i);
        calls.finished();
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat(least).isZero();
  }
}
