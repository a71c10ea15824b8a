package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A guest that its host has given up, and whose process lives on. */
@Timeout(60)
final class EvictedGuestTest {
  private static final long STAMP = 42;

  private final Notices notices = new Notices();

  private static ShmGuest walkIn(HostFixture fixture) throws IOException {
    return ShmGuest.walkIn(Sys.forAnyThread(), fixture.path(), WaitStrategy.ADAPTIVE);
  }

  private static long beat(ShmGuest guest) {
    Memory memory = guest.segment().memory();
    long offset = guest.segment().layout().heartbeat(guest.peerId());
    return memory.getLongAcquire(memory.address(offset, Long.BYTES));
  }

  /** Waits until a guest has beaten twice, so that all guests of the process had their turn. */
  private static void awaitBeats(ShmGuest guest) {
    for (int i = 0; i < 2; i++) {
      long before = beat(guest);
      while (beat(guest) == before) {
        Thread.onSpinWait(); // until the test times out
      }
    }
  }

  // r[verify shm.crash.heartbeat]
  @ParameterizedTest
  @EnumSource
  void itBeatsNoMoreForTheEntryMayBeAnothers(Placement placement) throws Exception {
    SegmentConfig beating = HostFixture.CONFIG.withHeartbeat(Duration.ofMillis(20));
    HostOptions options =
        HostOptions.DEFAULT
            .withPlacement(placement)
            .withConfig(beating)
            .withWalkIns(notices.options());
    try (HostFixture fixture = HostFixture.of(options);
        ShmGuest evicted = walkIn(fixture);
        ShmGuest other = walkIn(fixture)) {
      assertThat(notices.nextOtherThan("stuck")).isEqualTo("attached");
      assertThat(notices.nextOtherThan("stuck")).isEqualTo("attached");
      awaitBeats(evicted);
      fixture.host().peers().getFirst().disconnect("enough");
      assertThat(notices.nextOtherThan("stuck")).isEqualTo("dying HOST");
      assertThat(evicted.end()).contains(ShmGuest.End.EVICTED);
      awaitBeats(other);
      Memory memory = evicted.segment().memory();
      long offset = evicted.segment().layout().heartbeat(evicted.peerId());
      memory.setLong(memory.address(offset, Long.BYTES), STAMP);
      awaitBeats(other);
      assertThat(beat(evicted)).isEqualTo(STAMP);
    }
  }
}
