package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How a host looks for the messages of its guests, whether or not they ring. */
final class HostRoundsTest extends WithHost {
  /**
   * Until the loop listened for the first time, a guest used to be told that its host never sleeps,
   * and so could miss that it went to sleep.
   */
  @ParameterizedTest
  @EnumSource(names = {"SPIN", "YIELD"})
  void noGuestIsToldThatALoopNeverSleeps(WaitStrategy strategy) throws Exception {
    PeerOptions options = PeerOptions.DEFAULT.withStrategy(strategy).withHandler((_, _) -> {});
    try (HostFixture fixture = HostFixture.of(Placement.PADDED);
        SpawnTicket ticket = fixture.host().addPeer(options)) {
      Segment segment = fixture.host().segment();
      long flag = segment.layout().dataSleeper(ticket.peer().id(), Direction.TO_HOST);
      assertThat(segment.memory().getInt(segment.memory().address(flag, Integer.BYTES))).isZero();
    }
  }

  // r[verify shm.doorbell.optional]
  @ParameterizedTest
  @EnumSource
  void aGuestWithoutABellIsPolled(Placement placement) throws Exception {
    open(placement);
    Path path = fixture.path();
    try (ShmGuest guest = ShmGuest.walkIn(Sys.forAnyThread(), path, WaitStrategy.ADAPTIVE)) {
      assertThat(notices.next()).isEqualTo("attached");
      for (int i = 0; i < 50; i++) {
        byte[] bytes = Sides.payload(40, i);
        assertThat(guest.sendBlocking(MessageKind.REQUEST, i, 0, bytes, 0, 40, FutexWait.FOREVER))
            .isEqualTo(SendResult.SENT);
        assertThat(notices.next()).isEqualTo("message %d 40".formatted(i));
      }
      assertThat(guest.end()).isEmpty();
    }
    assertThat(notices.next()).isEqualTo("dying GOODBYE");
    assertThat(notices.next()).isEqualTo("gone null");
    fixture.assertAllFree();
  }

  /**
   * It used to be polled: once a round had found such a message, the loop woke up a thousand times
   * a second.
   */
  @Test
  void aGuestThatNeedNotRingIsNotPolledForNotRinging() throws Exception {
    open(Placement.PADDED);
    try (SteppedGuest guest = SteppedGuest.attached(host(), notices.options())) {
      assertThat(notices.next()).isEqualTo("attached");
      Peer peer = guest.peer();
      for (int i = 1; i <= 2; i++) { // the first look may be attributed to the ring on attaching
        loop.call(
            () -> {
              assertThat(peer.tryReceiving()).isTrue();
              peer.endReceivingDeaf();
              return true;
            });
        guest.step("send %d 40".formatted(i), "SENT");
        assertThat(notices.next()).isEqualTo("message %d 40".formatted(i));
      }
      assertThat(loop.call(() -> peer.life().isPolled())).isFalse();
      guest.step("detach", "detached");
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      guest.say("exit 0");
      assertThat(notices.next()).isEqualTo("gone exit code 0");
    }
  }

  /**
   * The loop came because of a ring and found another thread receiving, which had already looked
   * for the last time; the next answer used to wait for a round.
   */
  @Test
  void whatTheLoopWasSentForIsLookedForAgainIfAnotherWasReceiving() throws Exception {
    open(Placement.PADDED);
    try (SteppedGuest guest = SteppedGuest.attached(host(), notices.options())) {
      assertThat(notices.next()).isEqualTo("attached");
      Peer peer = guest.peer();
      assertThat(isMissedWhileAnotherReceives(peer, peer.life()::pump)).isTrue();
      assertThat(isMissedWhileAnotherReceives(peer, peer.life()::lookAround))
          .as("a round")
          .isFalse();
    }
  }

  /**
   * Whether a thread that was receiving while the loop came by is told to call it again. All in one
   * task of the loop, so that no ring of the guest, such as the one on attaching, is heard
   * meanwhile.
   */
  private boolean isMissedWhileAnotherReceives(Peer peer, Runnable comesBy) throws Exception {
    try (ExecutorService another = Executors.newSingleThreadExecutor()) {
      return loop.call(
          () -> {
            assertThat(another.submit(peer::tryReceiving).get()).isTrue();
            comesBy.run();
            return another.submit(peer.exchange().receiving()::endReceivingDeaf).get();
          });
    }
  }

  @Test
  void pollingTakesATurnOfEachGuest() throws Exception {
    fixture.open(
        HostOptions.DEFAULT
            .withConfig(CONFIG)
            .withBudget(2)
            .withWalkIns(PeerOptions.DEFAULT.withListener(notices)));
    Path path = fixture.path();
    try (ShmGuest one = ShmGuest.walkIn(Sys.forAnyThread(), path, WaitStrategy.ADAPTIVE);
        ShmGuest two = ShmGuest.walkIn(Sys.forAnyThread(), path, WaitStrategy.ADAPTIVE)) {
      notices.next();
      notices.next();
      for (int i = 0; i < 3; i++) {
        one.send(MessageKind.REQUEST, i, 0, new byte[1], 0, 1);
        two.send(MessageKind.REQUEST, i, 0, new byte[1], 0, 1);
      }
      var counts = new AtomicInteger[] {new AtomicInteger(), new AtomicInteger()};
      MessageHandler handler = (peer, _) -> counts[peer.id() - 1].incrementAndGet();
      assertThat(host().poll(handler)).isEqualTo(4);
      assertThat(counts[0]).hasValue(2);
      assertThat(counts[1]).hasValue(2);
      assertThat(host().poll(handler)).isEqualTo(2);
      assertThat(host().poll(handler)).isZero();
    }
  }
}
