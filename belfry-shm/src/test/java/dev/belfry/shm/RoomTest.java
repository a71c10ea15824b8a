package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.loop.Backend;
import dev.belfry.testkit.TestProcess;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Senders on an event loop wait for room while the other process takes its time. */
@Timeout(120)
final class RoomTest {
  private static final int MESSAGES = Boolean.getBoolean("belfry.stress") ? 200_000 : 4_000;

  /** More space in the ring than slots. */
  private static final SegmentConfig CONFIG = HostFixture.CONFIG.withRingSize(8);

  private final Notices notices = new Notices();

  /** One place in the ring and one slot: missing the only wake-up means waiting for ever. */
  private static final SegmentConfig NARROW = HostFixture.CONFIG.withRingSize(2).withSlots(1, 1032);

  private static HostFixture open(Backend backend, Placement placement, SegmentConfig config)
      throws Exception {
    var fixture = new HostFixture(backend);
    fixture.open(HostOptions.DEFAULT.withPlacement(placement).withConfig(config));
    return fixture;
  }

  static Stream<Arguments> all() {
    return Stream.of(Placement.values())
        .flatMap(placement -> Stream.of(Backend.values()).map(it -> Arguments.of(it, placement)));
  }

  // r[verify shm.wakeup.loop-wait]
  @ParameterizedTest
  @MethodSource("all")
  void bothSidesSendFromTheirLoopsAndAreWokenEveryTime(Backend backend, Placement placement)
      throws Exception {
    try (HostFixture fixture = open(backend, placement, NARROW)) {
      ShmHost host = fixture.host();
      List<String> command =
          TestProcess.javaCommand(RoomGuest.class, backend.name(), Integer.toString(MESSAGES));
      Peer peer = host.spawn(command, host.addPeer(PeerOptions.DEFAULT.withListener(notices)));
      assertThat(peer.awaitAttached(Sides.inMillis(60_000))).isEqualTo(Awaited.READY);
      var sender = new RoomSender(peer, host.loop(), MESSAGES);
      var sent = new CompletableFuture<Integer>();
      host.loop().scheduler().execute(() -> sender.sendAll(sent));
      assertThat(RoomSender.receiveAll(peer, MESSAGES, new Random(2))).isEqualTo(MESSAGES);
      assertThat(sent.get(60, TimeUnit.SECONDS)).isEqualTo(MESSAGES);
      assertThat(sender.refusals()).isPositive();
      assertThat(notices.next()).isEqualTo("attached");
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      assertThat(notices.next()).isEqualTo("gone exit code 0"); // the guest succeeded, too
      fixture.assertAllFree();
    }
  }

  private static SendResult send(Peer peer, int length) {
    return peer.send(MessageKind.REQUEST, 1, 0, Sides.payload(length, 1), 0, length);
  }

  private static CompletableFuture<Awaited> room(HostFixture fixture, Peer peer, SendResult refused)
      throws Exception {
    CompletableFuture<Awaited> room = peer.awaitRoom(fixture.loop.loop(), refused);
    fixture.loop.call(() -> true); // it has looked once
    return room;
  }

  private static Awaited get(CompletableFuture<Awaited> room) throws Exception {
    return room.get(30, TimeUnit.SECONDS);
  }

  /** The host has four slots, one of which is reserved for the other guest. */
  @ParameterizedTest
  @EnumSource
  void aSlotThatAnotherGuestGivesBackIsRoomToo(Placement placement) throws Exception {
    try (HostFixture fixture = open(Backend.EPOLL, placement, CONFIG);
        SteppedGuest one = SteppedGuest.attached(fixture.host(), notices.options());
        SteppedGuest two = SteppedGuest.attached(fixture.host(), notices.options())) {
      for (int i = 0; i < 3; i++) {
        assertThat(send(one.peer(), 1000)).isEqualTo(SendResult.SENT);
      }
      assertThat(send(two.peer(), 1000)).isEqualTo(SendResult.SENT);
      assertThat(send(two.peer(), 1000)).isEqualTo(SendResult.NO_SLOT);
      CompletableFuture<Awaited> room =
          new Room(two.peer().link(), Sleeper.NEVER_NANOS)
              .await(fixture.loop.loop(), SendResult.NO_SLOT);
      fixture.loop.call(() -> true); // it has looked once
      assertThat(room).isNotDone();
      one.step("receive", "REQUEST 1 1000");
      assertThat(get(room)).isEqualTo(Awaited.READY);
      assertThat(send(two.peer(), 1000)).isEqualTo(SendResult.SENT);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whoWaitsForADeadGuestIsTold(Backend backend) throws Exception {
    try (HostFixture fixture = open(backend, Placement.PADDED, CONFIG);
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), notices.options())) {
      while (send(guest.peer(), 1) == SendResult.SENT) {}
      CompletableFuture<Awaited> room = room(fixture, guest.peer(), SendResult.RING_FULL);
      assertThat(room).isNotDone();
      guest.kill();
      assertThat(get(room)).isEqualTo(Awaited.OVER);
      assertThat(get(room(fixture, guest.peer(), SendResult.RING_FULL))).isEqualTo(Awaited.OVER);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whoWaitsIsCancelledWithTheLoop(Backend backend) throws Exception {
    try (HostFixture fixture = open(backend, Placement.V1, CONFIG);
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), notices.options())) {
      while (send(guest.peer(), 1) == SendResult.SENT) {}
      CompletableFuture<Awaited> room = room(fixture, guest.peer(), SendResult.RING_FULL);
      assertThat(room).isNotDone();
      fixture.loop.close();
      assertThat(room).isCancelled();
    }
  }

  @Test
  void onlyWantOfRoomCanBeWaitedFor() throws Exception {
    try (HostFixture fixture = open(Backend.EPOLL, Placement.PADDED, CONFIG);
        SpawnTicket ticket = fixture.host().addPeer(PeerOptions.DEFAULT)) {
      assertThatThrownBy(() -> ticket.peer().awaitRoom(fixture.loop.loop(), SendResult.TOO_LARGE))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("TOO_LARGE");
    }
  }
}
