package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.Descriptors;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How a guest leaves, whatever its host does meanwhile. */
@Timeout(120)
final class GuestLeaveTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final byte[] BYTES = new byte[9];

  @TempDir private Path directory;

  private final Message message = new Message();

  /** Leaving waited for a counter that made no sense, threw, and kept lock and descriptors. */
  @Test
  void aGuestWhoseHostForgesStopsSaysWhyAndLeaves() throws Exception {
    try (HostFixture fixture = HostFixture.of(Placement.V1);
        ShmGuest guest = ShmGuest.walkIn(SYS, fixture.path(), WaitStrategy.ADAPTIVE)) {
      long tail = guest.segment().layout().tail(1, Direction.TO_HOST);
      guest.segment().memory().mapping().set(ValueLayout.JAVA_INT, tail, 20);
      SendResult last = SendResult.SENT;
      for (int i = 0; i < 4 && last == SendResult.SENT; i++) {
        last = guest.send(MessageKind.REQUEST, i, 0, BYTES, 0, 9);
      }
      assertThat(last).isEqualTo(SendResult.OVER);
      assertThat(guest.end()).contains(ShmGuest.End.VIOLATION);
      assertThat(guest.receiveBlocking(message, FutexWait.FOREVER)).isEqualTo(Awaited.OVER);
      guest.detach(Duration.ofSeconds(1));
      assertThat(fixture.host().segment().peers().isAttached(1)).isFalse();
    }
  }

  /** The same, where there is nothing left to be read. */
  @Test
  void aGuestWhoseSegmentIsCutGivesBackWhatItHad() throws Exception {
    Path path = directory.resolve("hub");
    Lifeline.get(SYS); // lives as long as the process
    try (Segment _ = Segment.create(SYS, path, Placement.V1, Sides.CONFIG)) {
      Descriptors before = Descriptors.now();
      ShmGuest guest = ShmGuest.walkIn(SYS, path, WaitStrategy.ADAPTIVE);
      try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
        file.truncate(0);
      }
      assertThatExceptionOfType(SegmentLost.class).isThrownBy(guest::close);
      assertThat(before.openedSince()).isEmpty();
    }
  }

  /** A guest of format 1 sleeps at its bell, and got an exception when it was closed meanwhile. */
  // r[verify shm.guest.detach]
  @Test
  void whoSleepsAtABellThatIsClosedLooksOnceMore() throws Exception {
    Doorbell.Pair bells = Doorbell.pair(SYS);
    var looks = new AtomicInteger();
    BellWait.Wait closedAfterTheFirstLook =
        _ -> {
          bells.guest().close();
          return looks.incrementAndGet() == 1 ? Awaited.TIMEOUT : Awaited.OVER;
        };
    assertThat(new BellWait(bells.guest()).await(closedAfterTheFirstLook, FutexWait.FOREVER))
        .isEqualTo(Awaited.OVER);
    bells.host().close();
  }
}
