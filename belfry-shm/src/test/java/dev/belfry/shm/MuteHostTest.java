package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.TestProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A host of format 1 that neither wakes sleepers nor rings when it has written something: its guest
 * has to look.
 */
@Timeout(120)
final class MuteHostTest {
  private static final long MILLISECOND = 1_000_000;
  private static final String SLEEPS = "sleeps ";

  private final Notices notices = new Notices();

  /** Only the first message has to wait for the end of a long sleep. */
  // r[verify shm.doorbell.optional]
  @Test
  void itsGuestLooksOftenOnceAMessageCameWithoutARing() throws Exception {
    try (HostFixture fixture = HostFixture.of(Placement.V1)) {
      MuteGuest.mute(fixture.tap);
      ShmHost host = fixture.host();
      List<String> command = TestProcess.javaCommand(BellSleeper.class);
      try (SteppedGuest guest = SteppedGuest.start(host, command, notices.options())) {
        assertThat(notices.next()).isEqualTo("attached");
        awaitSleep(guest);
        var sleeps = new ArrayList<Long>();
        for (int i = 1; i <= 50; i++) {
          assertThat(guest.peer().send(MessageKind.REQUEST, i, 0, new byte[1], 0, 1))
              .isEqualTo(SendResult.SENT);
          awaitMessage(guest, i);
          sleeps.add(awaitSleep(guest));
        }
        assertThat(sleeps).allMatch(it -> it <= MILLISECOND);
      }
      host.goodbye(Duration.ofSeconds(30)).get(30, TimeUnit.SECONDS);
      assertThat(notices.all()).endsWith("gone exit code 0");
    }
  }

  /** Returns how long the guest is about to sleep. */
  private static long awaitSleep(SteppedGuest guest) throws Exception {
    String line = line(guest);
    assertThat(line).startsWith(SLEEPS);
    return Long.parseLong(line.substring(SLEEPS.length()));
  }

  private static void awaitMessage(SteppedGuest guest, int id) throws Exception {
    String line = line(guest);
    while (line.startsWith(SLEEPS)) {
      line = line(guest);
    }
    assertThat(line).isEqualTo("received " + id);
  }

  private static String line(SteppedGuest guest) throws Exception {
    return Objects.requireNonNull(guest.next());
  }
}
