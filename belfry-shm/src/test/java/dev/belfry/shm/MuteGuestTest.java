package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.TestProcess;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A guest of format 1 that neither wakes sleepers nor rings when it has written something: its host
 * has to look.
 */
@Timeout(120)
final class MuteGuestTest {
  private final Notices notices = new Notices();

  /** Sends a message and waits until it has come back. */
  private void exchange(Peer peer, int number) throws Exception {
    byte[] bytes = Sides.payload(number % 100, number);
    assertThat(
            peer.sendBlocking(
                MessageKind.REQUEST, number, 0, bytes, 0, bytes.length, Sides.inMillis(30_000)))
        .isEqualTo(SendResult.SENT);
    assertThat(notices.next()).isEqualTo("message %d %d".formatted(number, bytes.length));
  }

  // r[verify shm.doorbell.optional]
  @Test
  void aGuestThatAnnouncesNothingIsPolled() throws Exception {
    try (HostFixture fixture = HostFixture.of(Placement.V1)) {
      ShmHost host = fixture.host();
      List<String> command = TestProcess.javaCommand(MuteGuest.class);
      Peer peer = host.spawn(command, host.addPeer(notices.options()));
      assertThat(notices.next()).isEqualTo("attached");
      for (int i = 0; i < 200; i++) {
        exchange(peer, i);
      }
      assertThat(fixture.loop.call(() -> peer.life().isPolled())).isTrue();
      host.goodbye(Duration.ofSeconds(30)).get(30, TimeUnit.SECONDS);
      assertThat(notices.all()).endsWith("gone exit code 0");
    }
  }
}
