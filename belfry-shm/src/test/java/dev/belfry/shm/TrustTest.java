package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.belfry.shm.ProtocolViolation.Kind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What a peer forges is detected, costs only that peer, and is never used. */
final class TrustTest {
  private final Message message = new Message();

  private void assertViolation(Link link, Kind kind) {
    for (int again = 0; again < 2; again++) {
      assertThatExceptionOfType(ProtocolViolation.class)
          .isThrownBy(() -> link.inbox().receive(message))
          .matches(e -> e.kind() == kind, "is a violation of " + kind);
    }
  }

  // r[verify shm.trust.counters]
  @ParameterizedTest
  @EnumSource
  void aForgedHeadDeliversNothing(Direction direction) throws IOException {
    for (int forged : new int[] {20, -1, 1 << 31}) {
      try (Sides sides = Sides.of(Placement.V1, CONFIG.withRingSize(4))) {
        sides.bytes().set(JAVA_INT, sides.host.layout().head(1, direction), forged);
        assertViolation(sides.receiver(direction), Kind.COUNTER);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aForgedTailIsNoticedByTheSender(Placement placement) throws IOException {
    for (int forged : new int[] {20, 4, 1 << 31}) {
      try (Sides sides = Sides.of(placement, CONFIG.withRingSize(4))) {
        for (int i = 0; i < 3; i++) {
          send(sides.toGuest, i, new byte[1]);
        }
        sides.bytes().set(JAVA_INT, sides.host.layout().tail(1, Direction.TO_GUEST), forged);
        assertThatExceptionOfType(ProtocolViolation.class)
            .isThrownBy(() -> send(sides.toGuest, 3, new byte[1]));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aTailThatTheSenderRewritesChangesNothingForTheReceiver(Placement placement)
      throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      for (int i = 0; i < 3; i++) {
        send(sides.toHost, i, new byte[1]);
        assertThat(sides.toGuest.inbox().receive(message)).isTrue();
        sides.bytes().set(JAVA_INT, sides.host.layout().tail(1, Direction.TO_HOST), 0);
        assertThat(sides.toGuest.inbox().receive(message)).isFalse();
      }
    }
  }

  @Test
  void aReceiverReadsNoMoreThanItsBudget() throws IOException {
    try (Sides sides = Sides.of(Placement.PADDED, CONFIG)) {
      // All descriptors marked as new, for this lap and for ever.
      for (int i = 0; i < 7; i++) {
        send(sides.toHost, i, new byte[1]);
      }
      assertThat(sides.toGuest.inbox().receive(_ -> {}, message, 5)).isEqualTo(5);
    }
  }

  /** Changes to the descriptor of a message with 100 bytes in slot 0, and their names. */
  static Stream<Arguments> forgeries() {
    return Stream.of(
        slot("kind 0", 0, 0, Kind.MESSAGE_KIND),
        slot("kind 8", 0, 8, Kind.MESSAGE_KIND),
        slot("kind 255", 0, 255, Kind.MESSAGE_KIND),
        word("slot 4", 16, 4, Kind.SLOT_INDEX),
        word("slot 2^31", 16, 1 << 31, Kind.SLOT_INDEX),
        word("a slot never allocated", 16, 2, Kind.SLOT_GENERATION),
        word("generation too low", 20, 0, Kind.SLOT_GENERATION),
        word("generation too high", 20, 2, Kind.SLOT_GENERATION),
        word("offset beyond the end", 24, 1020 - 99, Kind.SLOT_BOUNDS),
        word("offset that overflows", 24, -8, Kind.SLOT_BOUNDS),
        word("length beyond the maximum", 28, 1021, Kind.PAYLOAD_LENGTH),
        word("length 2^31", 28, 1 << 31, Kind.PAYLOAD_LENGTH),
        word("length that overflows", 28, -1, Kind.PAYLOAD_LENGTH));
  }

  private static Arguments slot(String name, int at, int value, Kind kind) {
    return Arguments.of(name, at, value, true, kind);
  }

  private static Arguments word(String name, int at, int value, Kind kind) {
    return Arguments.of(name, at, value, false, kind);
  }

  // r[verify shm.trust.descriptors]
  // r[verify shm.desc.msg-type]
  // r[verify shm.slot.generation]
  @ParameterizedTest(name = "{0}")
  @MethodSource("forgeries")
  void aForgedDescriptorIsAViolation(String name, int at, int value, boolean oneByte, Kind kind)
      throws IOException {
    for (Placement placement : Placement.values()) {
      try (Sides sides = Sides.of(placement, CONFIG)) {
        send(sides.toHost, 1, payload(100, 1));
        long descriptor = sides.host.layout().ring(1, Direction.TO_HOST);
        if (oneByte) {
          sides.bytes().set(JAVA_BYTE, descriptor + at, (byte) value);
        } else {
          sides.bytes().set(JAVA_INT, descriptor + at, value);
        }
        assertViolation(sides.toGuest, kind);
        // The other direction is the host's own, and goes on.
        assertThat(send(sides.toGuest, 1, payload(100, 1))).as(name).isEqualTo(SendResult.SENT);
      }
    }
  }

  /** A second read of a field would find another value than the one that was checked. */
  // r[verify shm.trust.descriptors]
  @ParameterizedTest
  @EnumSource
  void whatChangesAfterItWasCheckedChangesNothing(Placement placement) throws IOException {
    try (Sides sides = Sides.traced(placement, CONFIG)) {
      SegmentLayout layout = sides.host.layout();
      long descriptor = layout.ring(1, Direction.TO_HOST);
      long payload = layout.slot(1, 0) + SegmentConfig.GENERATION_BYTES;
      TracedMemory memory = TracedMemory.of(sides.host);
      for (int word = 1; word < 4; word++) {
        memory.name("word " + word, descriptor + 8L * word, Long.BYTES);
      }
      memory.name("payload", payload, 100);
      send(sides.toHost, 1, payload(100, 1));
      memory.before("read payload", () -> sides.bytes().asSlice(descriptor, 32).fill((byte) 0x7f));
      assertThat(sides.toGuest.inbox().receive(message)).isTrue();
      assertThat(memory.trace())
          .containsExactly("getLong word 1", "getLong word 2", "getLong word 3", "read payload");
      assertThat(message.toByteArray()).isEqualTo(payload(100, 1));
      assertThat(message.id()).isEqualTo(1);
      assertThat(message.kind()).isEqualTo(MessageKind.REQUEST);
    }
  }

  // r[verify shm.desc.inline-fields]
  @ParameterizedTest
  @EnumSource
  void inlineDescriptorsHaveNeitherGenerationNorOffsetAndAreNotTooLong(Placement placement)
      throws IOException {
    int tooLong = placement == Placement.V1 ? 33 : 97;
    int[][] forgeries = {{20, 1}, {24, 1}, {28, tooLong}, {28, -1}};
    for (int[] forgery : forgeries) {
      try (Sides sides = Sides.of(placement, CONFIG)) {
        send(sides.toHost, 1, payload(32, 1));
        long descriptor = sides.host.layout().ring(1, Direction.TO_HOST);
        sides.bytes().set(JAVA_INT, descriptor + forgery[0], forgery[1]);
        assertViolation(sides.toGuest, forgery[0] == 28 ? Kind.PAYLOAD_LENGTH : Kind.INLINE_FIELDS);
      }
    }
  }

  // r[verify shm.trust.slots]
  @ParameterizedTest
  @EnumSource
  void aMessageSentTwiceIsAcceptedOnce(Placement placement) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      send(sides.toHost, 1, payload(100, 1));
      assertThat(sides.toGuest.inbox().receive(message)).isTrue();
      send(sides.toHost, 2, payload(10, 1));
      long ring = sides.host.layout().ring(1, Direction.TO_HOST);
      long second = ring + sides.host.layout().descriptorBytes();
      sides.bytes().set(JAVA_LONG, second + 16, sides.bytes().get(JAVA_LONG, ring + 16));
      sides.bytes().set(JAVA_LONG, second + 24, sides.bytes().get(JAVA_LONG, ring + 24));
      assertViolation(sides.toGuest, Kind.SLOT_REPLAYED);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aSlotThatIsFreeIsRefused(Placement placement) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      send(sides.toHost, 1, payload(100, 1));
      sides.bytes().set(JAVA_LONG, sides.host.layout().pool(1), 15); // all four free
      assertViolation(sides.toGuest, Kind.SLOT_NOT_ALLOCATED);
    }
  }

  /** Slots of a batch are given back together, so this is detected after all were handed out. */
  // r[verify shm.trust.slots]
  @ParameterizedTest
  @EnumSource
  void inABatchASlotThatIsFreeIsFoundOutWhenItIsGivenBack(Placement placement) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      send(sides.toHost, 1, payload(100, 1));
      sides.bytes().set(JAVA_LONG, sides.host.layout().pool(1), 15); // all four free
      var handed = new ArrayList<byte[]>();
      assertThatExceptionOfType(ProtocolViolation.class)
          .isThrownBy(
              () -> sides.toGuest.inbox().receive(it -> handed.add(it.toByteArray()), message, 4))
          .satisfies(it -> assertThat(it.kind()).isEqualTo(Kind.SLOT_NOT_ALLOCATED));
      assertThat(handed).hasSize(1).first().isEqualTo(payload(100, 1));
      assertThatExceptionOfType(ProtocolViolation.class)
          .isThrownBy(() -> sides.toGuest.inbox().receive(message));
    }
  }

  /** Any guest can write the host's own bitmap; slots that do not exist are never used. */
  @ParameterizedTest
  @EnumSource
  void bitsBeyondTheLastSlotAreNeverAllocated(Placement placement) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      sides.bytes().set(JAVA_LONG, sides.host.layout().pool(0), ~0xfL);
      assertThat(send(sides.toGuest, 1, payload(100, 1))).isEqualTo(SendResult.NO_SLOT);
      assertThat(sides.toGuest.outbox().awaitSlot(System.nanoTime())).isEqualTo(Awaited.TIMEOUT);
      sides.bytes().set(JAVA_LONG, sides.host.layout().pool(0), -1L);
      for (int i = 0; i < 4; i++) {
        assertThat(send(sides.toGuest, 1, payload(100, 1))).isEqualTo(SendResult.SENT);
      }
      assertThat(send(sides.toGuest, 1, payload(100, 1))).isEqualTo(SendResult.NO_SLOT);
    }
  }

  // r[verify shm.slot.payload-offset]
  // r[verify shm.desc.flags]
  // r[verify shm.payload.inline]
  @ParameterizedTest
  @EnumSource
  void unusualButHarmlessDescriptorsAreDelivered(Placement placement) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      byte[] bytes = payload(1020, 1);
      assertThat(send(sides.toHost, 1, bytes)).isEqualTo(SendResult.SENT);
      long ring = sides.host.layout().ring(1, Direction.TO_HOST);
      sides.bytes().set(JAVA_BYTE, ring + 1, (byte) 0xff); // flags
      sides.bytes().set(JAVA_INT, ring + 24, 4); // offset
      sides.bytes().set(JAVA_INT, ring + 28, 8); // length, which would have fitted inline
      assertThat(sides.toGuest.inbox().receive(message)).isTrue();
      assertThat(message.toByteArray()).isEqualTo(java.util.Arrays.copyOfRange(bytes, 4, 12));
    }
  }

  // r[verify shm.guest.attach]
  @ParameterizedTest
  @EnumSource
  void aGuestWhoseEntryWasTakenAwayStopsForGood(Placement placement) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      send(sides.toGuest, 1, new byte[1]);
      long pair = sides.host.layout().stateAndEpoch(1);
      sides.bytes().set(JAVA_INT, pair + 4, 2);
      assertThat(send(sides.toHost, 1, new byte[1])).isEqualTo(SendResult.OVER);
      assertThat(sides.toHost.inbox().receive(message)).isFalse();
      assertThat(sides.toHost.inbox().receive(message, Sides.inMillis(5000)))
          .isEqualTo(Awaited.OVER);
    }
  }
}
