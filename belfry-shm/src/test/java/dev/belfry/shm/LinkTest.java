package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.inMillis;
import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.fail;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages between a host and a guest, in both placements and both directions. */
final class LinkTest {
  private final Message message = new Message();

  static Stream<Arguments> ways() {
    return Stream.of(Placement.values())
        .flatMap(
            placement ->
                Stream.of(Direction.values()).map(direction -> Arguments.of(placement, direction)));
  }

  // r[verify shm.payload.encoding]
  // r[verify shm.segment.slot-pools]
  // r[verify shm.segment.slot-ownership]
  @ParameterizedTest
  @MethodSource("ways")
  void payloadsOfEveryLengthArriveUnchanged(Placement placement, Direction direction)
      throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG.withSlots(2, 3008))) {
      int otherPool = direction == Direction.TO_HOST ? 0 : 1;
      for (int length = 0; length <= 3000; length++) {
        byte[] bytes = payload(length, length);
        assertThat(send(sides.sender(direction), length, bytes)).isEqualTo(SendResult.SENT);
        assertThat(sides.freeSlots(otherPool)).isEqualTo(2);
        assertThat(sides.receiver(direction).inbox().receive(message)).isTrue();
        assertThat(message.id()).isEqualTo(length);
        assertThat(message.toByteArray()).isEqualTo(bytes);
      }
      assertThat(sides.freeSlots(0)).isEqualTo(2);
      assertThat(sides.freeSlots(1)).isEqualTo(2);
    }
  }

  // The next message used to be passed to a handler that was not done with the previous one, which
  // it overwrote.
  @ParameterizedTest
  @EnumSource
  void aHandlerCannotReceiveWhileItIsHandedAMessage(Placement placement) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      var receiving = new Exchange(sides.toGuest, null).receiving();
      send(sides.toHost, 1, payload(9, 1));
      send(sides.toHost, 2, payload(9, 2));
      var ids = new ArrayList<Long>();
      Inbox.Handler handler =
          handed -> {
            assertThat(receiving.tryReceiving()).isFalse();
            ids.add(handed.id());
          };
      assertThat(receiving.receiveAndListen(handler, message, 9)).isEqualTo(2);
      assertThat(ids).containsExactly(1L, 2L);
      assertThat(receiving.turn().isTaken()).isFalse();
    }
  }

  // It used to receive together with the owner of the turn; only the turn keeps receivers apart.
  @Test
  void whoHasNotTakenTheTurnCannotReceive() throws IOException {
    try (Sides sides = Sides.of(Placement.PADDED, CONFIG)) {
      var receiving = new Exchange(sides.toGuest, null).receiving();
      send(sides.toHost, 1, payload(9, 1));
      Inbox.Handler nobody = handed -> fail("was handed " + handed);
      assertThatIllegalStateException()
          .isThrownBy(() -> receiving.receiveUntil(() -> false, nobody, message, inMillis(0)))
          .withMessageContaining("tryReceiving");
      assertThatIllegalStateException()
          .isThrownBy(() -> receiving.receiveBriefly(() -> false, nobody, message))
          .withMessageContaining("tryReceiving");
      assertThatIllegalStateException()
          .isThrownBy(() -> receiving.endReceiving(nobody, message, 9))
          .withMessageContaining("tryReceiving");
      assertThat(receiving.receive(message)).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aBriefLookTakesWhatIsThereUntilItsConditionHoldsAndWaitsForNoMore(Placement placement)
      throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      var receiving = new Exchange(sides.toGuest, null).receiving();
      var ids = new ArrayList<Long>();
      Inbox.Handler handler = handed -> ids.add(handed.id());
      assertThat(receiving.tryReceiving()).isTrue();
      send(sides.toHost, 1, payload(9, 1));
      send(sides.toHost, 2, payload(9, 2));
      receiving.receiveBriefly(() -> true, handler, message);
      assertThat(ids).isEmpty();
      receiving.receiveBriefly(() -> false, handler, message);
      assertThat(ids).containsExactly(1L, 2L);
      receiving.endReceivingDeaf();
    }
  }

  // r[verify shm.desc.msg-type]
  // r[verify shm.scope]
  @ParameterizedTest
  @MethodSource("ways")
  void allKindsAreCarriedWithTheirIdAndMethod(Placement placement, Direction direction)
      throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      for (MessageKind kind : MessageKind.values()) {
        byte[] text = kind.name().getBytes(StandardCharsets.UTF_8);
        sides.sender(direction).outbox().send(kind, 3, -5, text, 0, text.length);
        assertThat(sides.receiver(direction).inbox().receive(message)).isTrue();
        assertThat(message.kind()).isEqualTo(kind);
        assertThat(message.methodId()).isEqualTo(-5);
        assertThat(message.text()).isEqualTo(kind.name());
      }
    }
  }

  // r[verify shm.id.request-id]
  // r[verify shm.id.channel-id]
  @ParameterizedTest
  @EnumSource(names = {"REQUEST", "DATA"})
  void idsOfThirtyTwoBitsArriveAsSentAndOthersAreRefused(MessageKind kind) throws IOException {
    try (Sides sides = Sides.of(Placement.V1, CONFIG)) {
      for (long id : new long[] {0, 1, 1L << 31, (1L << 32) - 1}) {
        sides.toHost.outbox().send(kind, id, 0, new byte[0], 0, 0);
        assertThat(sides.toGuest.inbox().receive(message)).isTrue();
        assertThat(message.id()).isEqualTo(id);
      }
      byte[] before = sides.bytes().toArray(JAVA_BYTE);
      for (long wrong : new long[] {1L << 32, -1}) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> sides.toHost.outbox().send(kind, wrong, 0, new byte[0], 0, 0));
      }
      assertThat(sides.bytes().toArray(JAVA_BYTE)).isEqualTo(before);
    }
  }

  // r[verify shm.payload.inline]
  // r[verify shm.payload.slot]
  @ParameterizedTest
  @MethodSource("ways")
  void shortPayloadsAreInlineAndLongerOnesTakeOneSlot(Placement placement, Direction direction)
      throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      int pool = direction == Direction.TO_HOST ? 1 : 0;
      Link sender = sides.sender(direction);
      int inline = placement == Placement.V1 ? 32 : 96;
      for (int length : new int[] {0, 1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 1020}) {
        assertThat(send(sender, 1, payload(length, 3))).isEqualTo(SendResult.SENT);
        assertThat(sides.freeSlots(pool))
            .as("%d bytes", length)
            .isEqualTo(length <= inline ? 4 : 3);
        assertThat(sides.receiver(direction).inbox().receive(message)).isTrue();
        assertThat(message.toByteArray()).isEqualTo(payload(length, 3));
      }
      byte[] before = sides.bytes().toArray(JAVA_BYTE);
      assertThat(send(sender, 1, new byte[1021])).isEqualTo(SendResult.TOO_LARGE);
      assertThat(sides.bytes().toArray(JAVA_BYTE)).isEqualTo(before);
      while (send(sender, 1, new byte[0]) == SendResult.SENT) {
        // until it is full
      }
      assertThat(send(sender, 1, new byte[1021])).isEqualTo(SendResult.RING_FULL);
    }
  }

  @ParameterizedTest
  @EnumSource
  void thirtyTwoBytesPassWhateverTheMaximumIs(Placement placement) throws IOException {
    var config = new SegmentConfig(4, 100, 1, 4, 8, 1, 2, 0);
    try (Sides sides = Sides.of(placement, config)) {
      assertThat(send(sides.toHost, 1, payload(32, 1))).isEqualTo(SendResult.SENT);
      assertThat(send(sides.toHost, 1, payload(33, 1))).isEqualTo(SendResult.TOO_LARGE);
      assertThat(sides.toGuest.inbox().receive(message)).isTrue();
      assertThat(message.toByteArray()).isEqualTo(payload(32, 1));
    }
  }

  // r[verify shm.ring.capacity]
  // r[verify shm.ring.full]
  @ParameterizedTest
  @MethodSource("ways")
  void aRingHoldsOneLessThanItsSize(Placement placement, Direction direction) throws IOException {
    for (int size : new int[] {2, 4}) {
      try (Sides sides = Sides.of(placement, CONFIG.withRingSize(size))) {
        Link sender = sides.sender(direction);
        for (int lap = 0; lap < 5; lap++) {
          for (int i = 0; i < size - 1; i++) {
            assertThat(send(sender, i, new byte[1])).isEqualTo(SendResult.SENT);
          }
          assertThat(send(sender, 9, payload(100, 1))).isEqualTo(SendResult.RING_FULL);
          assertThat(sides.freeSlots(direction == Direction.TO_HOST ? 1 : 0)).isEqualTo(4);
          for (int i = 0; i < size - 1; i++) {
            assertThat(sides.receiver(direction).inbox().receive(message)).isTrue();
            assertThat(message.id()).isEqualTo(i);
          }
          assertThat(sides.receiver(direction).inbox().receive(message)).isFalse();
        }
      }
    }
  }

  // r[verify shm.ring.capacity]
  @ParameterizedTest
  @MethodSource("ways")
  void countersPassTwoToThe32(Placement placement, Direction direction) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG.withRingSize(4))) {
      WrapStart.at(sides.host, sides.sender(direction), sides.receiver(direction), -2);
      for (int i = 0; i < 10_000; i++) {
        assertThat(send(sides.sender(direction), i, payload(i % 50, i))).isEqualTo(SendResult.SENT);
        if (i % 3 == 2) {
          for (int j = i - 2; j <= i; j++) {
            assertThat(sides.receiver(direction).inbox().receive(message)).isTrue();
            assertThat(message.id()).isEqualTo(j);
            assertThat(message.toByteArray()).isEqualTo(payload(j % 50, j));
          }
        }
      }
    }
  }

  // r[verify shm.ordering.ring-publish]
  @ParameterizedTest
  @EnumSource
  void stagedMessagesArePublishedTogetherAndReadTogether(Placement placement) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      for (int i = 0; i < 5; i++) {
        byte[] bytes = payload(i * 20, i);
        sides.toHost.outbox().stage(MessageKind.DATA, i, 0, bytes, 0, bytes.length);
      }
      assertThat(sides.toHost.outbox().ring().head()).isZero();
      sides.toHost.outbox().publish();
      assertThat(sides.toHost.outbox().ring().head()).isEqualTo(5);
      var ids = new ArrayList<Long>();
      assertThat(sides.toGuest.inbox().receive(m -> ids.add(m.id()), message, 3)).isEqualTo(3);
      assertThat(sides.toGuest.inbox().ring().tail()).isEqualTo(3);
      assertThat(sides.toGuest.inbox().receive(m -> ids.add(m.id()), message, 9)).isEqualTo(2);
      assertThat(ids).containsExactly(0L, 1L, 2L, 3L, 4L);
    }
  }

  // r[verify shm.slot.exhaustion]
  @ParameterizedTest
  @MethodSource("ways")
  void withoutASlotALargeMessageIsRefusedAndNothingChanges(Placement placement, Direction direction)
      throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG.withSlots(2, 128))) {
      Link sender = sides.sender(direction);
      assertThat(send(sender, 1, payload(100, 1))).isEqualTo(SendResult.SENT);
      assertThat(send(sender, 2, payload(100, 2))).isEqualTo(SendResult.SENT);
      byte[] before = sides.bytes().toArray(JAVA_BYTE);
      assertThat(send(sender, 3, payload(100, 3))).isEqualTo(SendResult.NO_SLOT);
      assertThat(sides.bytes().toArray(JAVA_BYTE)).isEqualTo(before);
      assertThat(sender.outbox().slotShortages()).isEqualTo(1);
      assertThat(send(sender, 4, payload(10, 4))).isEqualTo(SendResult.SENT);
      assertThat(
              sender.outbox().send(MessageKind.DATA, 5, 0, payload(100, 5), 0, 100, inMillis(20)))
          .isEqualTo(SendResult.TIMEOUT);
    }
  }

  // r[verify shm.topology.hub.communication]
  // r[verify shm.id.request-scope]
  @ParameterizedTest
  @EnumSource
  void guestsAreIsolatedFromEachOther(Placement placement) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG);
        Segment other =
            Segment.attach(
                Sys.forAnyThread(), Path.of("/proc/self/fd/" + sides.host.descriptor()))) {
      Link second = Link.walkIn(other, WaitStrategy.SLEEP);
      Link toSecond = Link.toGuest(sides.host, second.peer(), WaitStrategy.SLEEP);
      assertThat(List.of(sides.toHost.peer(), second.peer())).containsExactly(1, 2);
      send(sides.toHost, 7, payload(100, 1));
      send(second, 7, payload(100, 2));
      send(sides.toGuest, 7, payload(100, 3));
      send(toSecond, 7, payload(100, 4));
      assertReceived(sides.toGuest, 1);
      assertReceived(toSecond, 2);
      assertReceived(sides.toHost, 3);
      assertReceived(second, 4);
    }
  }

  private void assertReceived(Link link, int seed) {
    assertThat(link.inbox().receive(message)).isTrue();
    assertThat(message.id()).isEqualTo(7);
    assertThat(message.toByteArray()).isEqualTo(payload(100, seed));
    assertThat(link.inbox().receive(message)).isFalse();
  }

  /** The guest that does not read stands for one that was stopped. */
  // r[verify shm.segment.host-slots]
  @ParameterizedTest
  @EnumSource
  void aGuestThatDoesNotReadCannotTakeTheSlotsOfOthers(Placement placement) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG);
        Segment other =
            Segment.attach(
                Sys.forAnyThread(), Path.of("/proc/self/fd/" + sides.host.descriptor()))) {
      Link reading = Link.walkIn(other, WaitStrategy.SLEEP);
      Link toReading = Link.toGuest(sides.host, reading.peer(), WaitStrategy.SLEEP);
      for (int i = 0; i < 3; i++) {
        assertThat(send(sides.toGuest, i, payload(100, i))).isEqualTo(SendResult.SENT);
      }
      assertThat(send(sides.toGuest, 3, payload(100, 3))).isEqualTo(SendResult.NO_SLOT);
      for (int i = 0; i < 20; i++) {
        assertThat(send(toReading, i, payload(100, i))).isEqualTo(SendResult.SENT);
        assertThat(reading.inbox().receive(message)).isTrue();
      }
      assertThat(sides.toHost.inbox().receive(message)).isTrue();
      assertThat(send(sides.toGuest, 3, payload(100, 3))).isEqualTo(SendResult.SENT);
    }
  }

  /** Each of two guests used to be kept from taking what the third needs, but not both together. */
  // r[verify shm.segment.host-slots]
  @ParameterizedTest
  @EnumSource
  void severalGuestsThatDoNotReadCannotTakeTheSlotsOfOthersEither(Placement placement)
      throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG.withMaxGuests(3))) {
      Link second = Link.walkIn(sides.guest, WaitStrategy.SLEEP);
      Link reading = Link.walkIn(sides.guest, WaitStrategy.SLEEP);
      Link toSecond = Link.toGuest(sides.host, second.peer(), WaitStrategy.SLEEP);
      Link toReading = Link.toGuest(sides.host, reading.peer(), WaitStrategy.SLEEP);
      for (Link to : List.of(sides.toGuest, toSecond)) {
        assertThat(send(to, 1, payload(100, 1))).isEqualTo(SendResult.SENT);
        while (send(to, 2, payload(100, 2)) != SendResult.NO_SLOT) {}
      }
      for (int i = 0; i < 20; i++) {
        assertThat(send(toReading, i, payload(100, i))).isEqualTo(SendResult.SENT);
        assertThat(reading.inbox().receive(message)).isTrue();
      }
    }
  }

  /** Only a send with a deadline used to publish staged messages before it waited. */
  @ParameterizedTest
  @EnumSource
  void whoWaitsForThePeerHasShownItAllThatWasStaged(Placement placement) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG.withRingSize(4))) {
      Outbox outbox = sides.toHost.outbox();
      for (int i = 0; i < 3; i++) {
        assertThat(outbox.stage(MessageKind.REQUEST, i, 0, payload(9, i), 0, 9))
            .isEqualTo(SendResult.SENT);
      }
      assertThat(outbox.awaitSpace(System.nanoTime())).isEqualTo(Awaited.TIMEOUT);
      assertThat(sides.toGuest.inbox().ring().head()).isEqualTo(3);
      for (int i = 0; i < 3; i++) {
        assertThat(sides.toGuest.inbox().receive(message)).isTrue();
      }
      Channel channel = Objects.requireNonNull(sides.toHost.channels().open());
      assertThat(channel.send(payload(100, 1), 0, 100)).isEqualTo(SendResult.SENT); // all credit
      outbox.stage(MessageKind.REQUEST, 4, 0, payload(9, 4), 0, 9);
      assertThat(channel.send(payload(9, 1), 0, 9, System.nanoTime()))
          .isEqualTo(SendResult.TIMEOUT);
      assertThat(sides.toGuest.inbox().ring().head()).isEqualTo(5);
    }
  }

  // r[verify shm.goodbye.payload]
  @Test
  void aGoodbyeCarriesItsReasonAsText() throws IOException {
    try (Sides sides = Sides.of(Placement.V1, CONFIG)) {
      for (String reason : List.of("zu groß, tschüß", "ü".repeat(100))) {
        byte[] bytes = reason.getBytes(StandardCharsets.UTF_8);
        sides.toGuest.outbox().send(MessageKind.GOODBYE, 0, 0, bytes, 0, bytes.length);
        assertThat(sides.toHost.inbox().receive(message)).isTrue();
        assertThat(message.text()).isEqualTo(reason);
      }
      sides.toGuest.outbox().send(MessageKind.GOODBYE, 0, 0, new byte[] {(byte) 0xff, 65}, 0, 2);
      assertThat(sides.toHost.inbox().receive(message)).isTrue();
      assertThat(message.text()).isEqualTo("\ufffdA");
    }
  }

  // r[verify shm.goodbye.host]
  @ParameterizedTest
  @EnumSource
  void messagesSentBeforeTheHostsGoodbyeAreReceivedAfterIt(Placement placement) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      send(sides.toGuest, 1, payload(100, 1));
      send(sides.toGuest, 2, payload(10, 2));
      sides.host.sayGoodbye();
      assertThat(send(sides.toHost, 1, new byte[1])).isEqualTo(SendResult.OVER);
      assertThat(sides.toHost.inbox().receive(message, inMillis(1000))).isEqualTo(Awaited.READY);
      assertThat(sides.toHost.inbox().receive(message, inMillis(1000))).isEqualTo(Awaited.READY);
      assertThat(message.id()).isEqualTo(2);
      assertThat(sides.toHost.inbox().receive(message, inMillis(9000))).isEqualTo(Awaited.OVER);
      assertThatExceptionOfType(SegmentException.class)
          .isThrownBy(
              () ->
                  Segment.attach(
                      Sys.forAnyThread(), Path.of("/proc/self/fd/" + sides.host.descriptor())))
          .matches(e -> e.reason() == SegmentException.Reason.HOST_GOODBYE);
    }
  }

  /**
   * It used to store its tail after the message was handled, into an entry that belonged to another
   * guest by then.
   */
  // r[verify shm.guest.detach]
  @ParameterizedTest
  @EnumSource
  void aGuestThatLeavesWhileItHandlesAMessageTouchesItsEntryNoMore(Placement placement)
      throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      send(sides.toGuest, 1, payload(100, 1));
      Inbox.Handler leaving =
          _ -> {
            sides.toHost.leave(System.nanoTime());
            sides.host.peers().recover(1);
          };
      assertThat(sides.toHost.inbox().receive(leaving, message, 1)).isEqualTo(1);
      assertThat(sides.toHost.inbox().ring().tail()).isZero();
    }
  }

  @Test
  void afterCloseEverythingIsOver() throws IOException {
    try (Sides sides = Sides.of(Placement.PADDED, CONFIG)) {
      sides.toHost.close();
      assertThat(send(sides.toHost, 1, new byte[1])).isEqualTo(SendResult.OVER);
      assertThat(sides.toHost.inbox().receive(message, inMillis(9000))).isEqualTo(Awaited.OVER);
      sides.guest.close();
      assertThat(sides.guest.isClosed()).isTrue();
    }
  }
}
