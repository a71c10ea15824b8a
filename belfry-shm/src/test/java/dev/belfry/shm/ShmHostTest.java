package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.loop.Coroutine;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages between a host and guests in their own processes. */
final class ShmHostTest extends WithHost {
  // r[verify shm.spawn.ticket]
  // r[verify shm.death.callback-context]
  @ParameterizedTest
  @EnumSource
  void aSpawnedGuestAnswersLeavesAndIsGone(Placement placement) throws Exception {
    open(placement);
    try (SteppedGuest guest = SteppedGuest.attached(host(), notices.options())) {
      assertThat(notices.next()).isEqualTo("attached");
      guest.step("echo", "echoing");
      for (int i = 0; i < 20; i++) {
        byte[] bytes = Sides.payload(i * 50, i);
        SendResult sent =
            guest
                .peer()
                .sendBlocking(
                    MessageKind.DATA, i, i, bytes, 0, bytes.length, Sides.inMillis(30_000));
        assertThat(sent).isEqualTo(SendResult.SENT);
        assertThat(notices.next()).isEqualTo("message %d %d".formatted(i, i * 50));
      }
      guest.peer().disconnect("enough");
      assertThat(notices.next()).isEqualTo("dying HOST");
      String told = notices.next();
      if (told.startsWith("message 0 6")) { // it had the time to send the reason back
        told = notices.next();
      }
      assertThat(told).isEqualTo("gone killed by SIGKILL");
    }
    fixture.assertAllFree();
    assertThat(notices.threads()).containsOnly(loop.thread());
  }

  // r[verify shm.guest.detach]
  @ParameterizedTest
  @EnumSource
  void whatAGuestSentBeforeItLeftIsReceived(Placement placement) throws Exception {
    open(placement);
    try (SteppedGuest guest = SteppedGuest.attached(host(), notices.options())) {
      guest.step("send 1 10", "SENT");
      guest.step("send 2 1000", "SENT");
      guest.step("detach", "detached");
      guest.say("exit 3");
      assertThat(notices.next()).isEqualTo("attached");
      assertThat(notices.next()).isEqualTo("message 1 10");
      assertThat(notices.next()).isEqualTo("message 2 1000");
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      assertThat(notices.next()).isEqualTo("gone exit code 3");
    }
    fixture.assertAllFree();
  }

  /** A blocked send on a ring of four ends when the host reads one message. */
  // r[verify shm.doorbell.ring-integration]
  @ParameterizedTest
  @EnumSource
  void aBlockedSendEndsWhenTheHostReadsOne(Placement placement) throws Exception {
    open(placement);
    PeerOptions fetched = PeerOptions.DEFAULT.withListener(notices);
    try (SteppedGuest guest = SteppedGuest.attached(host(), fetched)) {
      for (int i = 0; i < 3; i++) {
        guest.step("send %d 1".formatted(i), "SENT");
      }
      guest.step("send 3 1", "RING_FULL");
      guest.step("block 99 1", "blocking");
      var message = new Message();
      assertThat(guest.peer().receive(message)).isTrue();
      assertThat(message.id()).isZero();
      guest.expect("SENT");
      guest.say("exit 0");
      assertThat(notices.next()).isEqualTo("attached");
      assertThat(notices.next()).startsWith("dying");
      assertThat(notices.next()).isEqualTo("gone exit code 0");
      // What it had sent can still be fetched, although its entry is free.
      for (int id : new int[] {1, 2, 99}) {
        assertThat(guest.peer().receiveBlocking(message, Sides.inMillis(30_000)))
            .isEqualTo(Awaited.READY);
        assertThat(message.id()).isEqualTo(id);
      }
      assertThat(guest.peer().receiveBlocking(message, FutexWait.FOREVER)).isEqualTo(Awaited.OVER);
    }
    fixture.assertAllFree();
  }

  /**
   * A thread that waited for the guest to attach used to get OVER, and not what the guest had sent.
   */
  // r[verify shm.death.dying]
  @ParameterizedTest
  @EnumSource
  void whatAGuestSentIsReceivedThoughItIsDyingWhenItIsSeenToHaveCome(Placement placement)
      throws Exception {
    open(placement);
    PeerListener givesUp =
        new PeerListener() {
          @Override
          public void onAttached(Peer peer) {
            peer.life().disconnect("not wanted after all");
          }
        };
    try (SteppedGuest guest =
        SteppedGuest.start(host(), SteppedGuest.JAVA, PeerOptions.DEFAULT.withListener(givesUp))) {
      var message = new Message();
      var begun = new CountDownLatch(1);
      Coroutine<Awaited> receiver =
          loop.loop()
              .spawn(
                  "receives",
                  () -> {
                    begun.countDown();
                    return guest.peer().receiveBlocking(message, FutexWait.FOREVER);
                  });
      begun.await();
      CountDownLatch distraction = fixture.distract(); // by then the coroutine waits
      guest.step("attach", "attached");
      guest.step("send 7 10", "SENT");
      distraction.countDown();
      assertThat(receiver.result().get(30, TimeUnit.SECONDS)).isEqualTo(Awaited.READY);
      assertThat(message.id()).isEqualTo(7);
    }
  }

  /** It used to wait for ever if the guest died: only the blocked loop could have noticed. */
  @ParameterizedTest
  @EnumSource
  void nobodyWaitsOnTheLoopForAGuestToReadOrToSend(Placement placement) throws Exception {
    open(placement);
    try (SteppedGuest guest = SteppedGuest.attached(host(), PeerOptions.DEFAULT)) {
      Peer peer = guest.peer();
      assertThat(peer.awaitAttached(Sides.inMillis(30_000))).isEqualTo(Awaited.READY);
      LongFunction<SendResult> send =
          until -> peer.sendBlocking(MessageKind.DATA, 1, 0, new byte[1], 0, 1, until);
      for (int i = 0; i < peer.ringCapacity(); i++) {
        assertThat(loop.call(() -> send.apply(FutexWait.FOREVER))).isEqualTo(SendResult.SENT);
      }
      LongFunction<Awaited> receive = until -> peer.receiveBlocking(new Message(), until);
      for (LongFunction<?> wait : List.of(send, receive)) {
        long soon = Sides.inMillis(1000);
        assertThatThrownBy(() -> loop.call(() -> wait.apply(soon)))
            .hasCauseInstanceOf(IllegalStateException.class)
            .hasMessageContaining("would stop the loop");
      }
      long now = System.nanoTime();
      assertThat(loop.call(() -> send.apply(now))).isEqualTo(SendResult.TIMEOUT);
      assertThat(loop.call(() -> receive.apply(now))).isEqualTo(Awaited.TIMEOUT);
    }
  }

  /** It used to wait for ever: only the blocked loop could have seen the guest attach. */
  @Test
  void nobodyWaitsOnTheLoopForAGuestToAttach() throws Exception {
    open(Placement.PADDED);
    try (SpawnTicket ticket = host().addPeer(notices.options())) {
      Peer peer = ticket.peer();
      long soon = Sides.inMillis(1000);
      assertThatThrownBy(() -> loop.call(() -> peer.awaitAttached(soon)))
          .hasCauseInstanceOf(IllegalStateException.class)
          .hasMessageContaining("would stop the loop");
      long now = System.nanoTime();
      assertThat(loop.call(() -> peer.awaitAttached(now))).isEqualTo(Awaited.TIMEOUT);
    }
  }
}
