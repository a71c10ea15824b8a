package dev.belfry.workers;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class CrashLoopTest {
  private static final boolean SERVED = true;
  private static final Death DEATH = new Death("sample-1", 4711, 9, "exit code 9", "", null);

  private static CrashLoop loop(int limit) {
    return new CrashLoop(limit, Duration.ofMillis(100), Duration.ofSeconds(10), new Random(1));
  }

  @Test
  void whoDiesAfterHavingServedIsFollowedAtOnce() {
    CrashLoop loop = loop(3);
    for (int i = 0; i < 100; i++) {
      assertThat(loop.died(DEATH, SERVED)).isFalse();
      assertThat(loop.pause()).isZero();
    }
    assertThat(loop.isOpen()).isFalse();
  }

  @Test
  void pausesDoubleUpToTheLongestAndAreNeverAllTheSame() {
    CrashLoop loop = loop(Integer.MAX_VALUE);
    for (int whole : new int[] {100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000}) {
      loop.died(DEATH, !SERVED);
      long least = Long.MAX_VALUE;
      long most = 0;
      for (int i = 0; i < 1000; i++) {
        long pause = loop.pause().toMillis();
        least = Math.min(least, pause);
        most = Math.max(most, pause);
      }
      assertThat(least).isBetween(whole / 2L, whole / 2L + whole / 10);
      assertThat(most).isBetween(whole - whole / 10L, (long) whole);
    }
    for (int i = 0; i < 100; i++) {
      loop.died(DEATH, !SERVED);
    }
    assertThat(loop.pause()).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(10));
  }

  @Test
  void theLongestPauseMayBeForEver() {
    Duration forEver = ChronoUnit.FOREVER.getDuration();
    var loop = new CrashLoop(9, Duration.ofMillis(100), forEver, new Random(1));
    loop.died(DEATH, !SERVED);
    loop.died(DEATH, !SERVED);
    assertThat(loop.pause()).isBetween(Duration.ofMillis(100), Duration.ofMillis(200));
    var patient = new CrashLoop(9, forEver, forEver, new Random(1));
    patient.died(DEATH, !SERVED);
    patient.died(DEATH, !SERVED);
    assertThat(patient.pause()).isGreaterThan(Duration.ofDays(36_500));
  }

  @Test
  void soManyInARowOpenTheCircuitOnceUntilItIsReset() {
    CrashLoop loop = loop(3);
    assertThat(loop.died(DEATH, !SERVED)).isFalse();
    assertThat(loop.died(DEATH, !SERVED)).isFalse();
    assertThat(loop.isOpen()).isFalse();
    assertThat(loop.died(DEATH, !SERVED)).isTrue();
    assertThat(loop.isOpen()).isTrue();
    assertThat(loop.deathsInARow()).isEqualTo(3);
    assertThat(loop.died(DEATH, !SERVED)).as("a second time").isFalse();
    assertThat(loop.deathsInARow()).as("those that opened it").isEqualTo(3);

    loop.reset();
    assertThat(loop.isOpen()).isFalse();
    assertThat(loop.deathsInARow()).isZero();
    assertThat(loop.pause()).isZero();
  }

  @Test
  void oneThatServesBreaksTheRow() {
    CrashLoop loop = loop(3);
    loop.died(DEATH, !SERVED);
    loop.died(DEATH, !SERVED);
    loop.died(DEATH, SERVED);
    assertThat(loop.deathsInARow()).isZero();
    loop.died(DEATH, !SERVED);
    loop.died(DEATH, !SERVED);
    assertThat(loop.isOpen()).isFalse();
  }

  @Test
  void aCircuitThatIsOpenIsNotClosedByThoseThatServedBefore() {
    CrashLoop loop = loop(1);
    loop.died(DEATH, !SERVED);
    loop.died(DEATH, SERVED); // one that had been running before
    loop.served();
    assertThat(loop.isOpen()).isTrue();
    assertThat(loop.deathsInARow()).as("why it is open").isEqualTo(1);
  }
}
