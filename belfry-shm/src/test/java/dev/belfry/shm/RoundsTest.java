package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Sys;
import dev.belfry.loop.EventLoop;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How often a host wakes up although nothing happens. */
@Timeout(60)
final class RoundsTest extends WithHost {
  private static final long SAMPLE_NANOS = 200_000_000;

  /** The turns of a loop for each second; on a busy machine they are fewer than they should be. */
  private static double turnsPerSecond(EventLoop loop) {
    long before = loop.metrics().turns();
    long began = System.nanoTime();
    LockSupport.parkNanos(SAMPLE_NANOS);
    return (loop.metrics().turns() - before) * 1e9 / (System.nanoTime() - began);
  }

  /** It would not ring, so its next message is found within a millisecond. */
  // r[verify shm.doorbell.optional]
  @ParameterizedTest
  @EnumSource
  void forAGuestWithoutABellItWakesUpAThousandTimesASecond(Placement placement) throws Exception {
    open(placement);
    try (ShmGuest guest =
        ShmGuest.walkIn(Sys.forAnyThread(), fixture.path(), WaitStrategy.ADAPTIVE)) {
      assertThat(notices.next()).isEqualTo("attached");
      guest.send(MessageKind.REQUEST, 1, 0, Sides.payload(9, 1), 0, 9);
      assertThat(notices.next()).isEqualTo("message 1 9");
      await().until(() -> isBetween(100, turnsPerSecond(loop.loop()), 4000));
    }
  }

  @Test
  void forOthersItWakesUpTwentyTimesASecond() throws Exception {
    open(Placement.PADDED);
    try (SteppedGuest guest = SteppedGuest.attached(host(), notices.options())) {
      assertThat(notices.next()).isEqualTo("attached");
      guest.step("send 1 9", "SENT");
      assertThat(notices.next()).isEqualTo("message 1 9");
      await().until(() -> isBetween(4, turnsPerSecond(loop.loop()), 80));
      guest.kill();
    }
  }

  private static boolean isBetween(double least, double value, double most) {
    return least <= value && value <= most;
  }
}
