package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.loop.Coroutine;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Coroutines on the host's loop that send to a guest while the loop itself sends, too. */
final class CoroutineSenderTest extends WithHost {
  private static final byte[] BYTES = new byte[9];

  /** What the coroutine holds and the loop needs. */
  enum Needed {
    TURN,
    CHANNELS;

    Object use(Peer peer) {
      return switch (this) {
        case TURN -> peer.send(MessageKind.REQUEST, 1, 0, BYTES, 0, 9);
        case CHANNELS -> Objects.requireNonNull(peer.openChannel());
      };
    }
  }

  /**
   * The coroutine used to unmount while it waited for another thread at the bell. It could not be
   * resumed, because the loop was waiting for what the coroutine held.
   */
  // r[verify shm.doorbell.ring-integration]
  @ParameterizedTest
  @EnumSource
  void aCoroutineThatFindsAnotherAtTheBellDoesNotStopTheLoop(Needed needed) throws Exception {
    fixture.open(
        HostOptions.DEFAULT.withPlacement(Placement.V1).withConfig(CONFIG.withChannels(8, 100)));
    try (SteppedGuest guest = SteppedGuest.attached(host(), PeerOptions.DEFAULT)) {
      Peer peer = guest.peer();
      guest.step("send 1 900", "SENT");
      guest.step("send 2 900", "SENT");
      assertThat(peer.receive(new Message())).isTrue(); // from now on channels can be opened
      Channel channel = Objects.requireNonNull(peer.openChannel());
      var ringing = new CountDownLatch(1);
      var begun = new CountDownLatch(1);
      fixture.tap.script(
          "send",
          (nth, _) -> {
            if (nth == 1) {
              ringing.countDown();
              ringSlowly(begun);
            }
            return OptionalLong.empty();
          });
      Thread reader = Thread.ofPlatform().start(() -> peer.receive(new Message()));
      ringing.await();
      Coroutine<SendResult> sender =
          loop.loop()
              .spawn(
                  "sends",
                  () -> {
                    begun.countDown();
                    return peer.send(channel, BYTES, 0, 9, FutexWait.FOREVER);
                  });
      assertThat(loop.call(() -> needed.use(peer))).isNotEqualTo(SendResult.OVER);
      assertThat(sender.result().get(30, TimeUnit.SECONDS)).isEqualTo(SendResult.SENT);
      reader.join();
      guest.kill();
    }
  }

  /** Holds the bell for longer than the coroutine takes to get there. */
  private static void ringSlowly(CountDownLatch begun) {
    try {
      begun.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    LockSupport.parkNanos(200_000_000);
  }
}
