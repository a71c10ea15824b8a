package dev.belfry.shm;

import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.belfry.shm.ProtocolViolation.Kind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** How often the bytes of a message are copied, and how long they are valid. */
final class MessageBytesTest {
  /** In a descriptor, in a pocket if there are any, and in a slot. */
  private static final List<Integer> LENGTHS = List.of(0, 20, 96, 97, 500, 1152, 1153, 60_000);

  private static final SegmentConfig CONFIG = SegmentConfig.DEFAULT.withMaxGuests(1);
  private static final SegmentConfig ONE_SLOT = CONFIG.withSlots(1, 1024);

  private final Message message = new Message();

  @ParameterizedTest
  @MethodSource("dev.belfry.shm.LinkTest#ways")
  void aHandlerHasThemCopiedToWhereItWantsThem(Placement placement, Direction direction)
      throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      for (int length : LENGTHS) {
        byte[] sent = payload(length, length);
        send(sides.sender(direction), 1, sent);
        byte[] all = new byte[length + 2];
        Inbox.Handler handler =
            it -> {
              it.copyTo(0, all, 1, it.length());
              assertThat(it.toByteArray()).isEqualTo(sent);
              int half = length / 2;
              assertThat(it.toByteArray(half)).isEqualTo(Arrays.copyOfRange(sent, half, length));
            };
        assertThat(sides.receiver(direction).inbox().receive(handler, message, 9)).isEqualTo(1);
        assertThat(Arrays.copyOfRange(all, 1, length + 1)).isEqualTo(sent);
        assertThat(List.of(all[0], all[length + 1])).containsOnly((byte) 0);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void theyAreReadOnceOrNotAtAll(Placement placement) throws IOException {
    for (Inbox.Handler asks :
        List.<Inbox.Handler>of(Message::toByteArray, Message::bytes, Message::text)) {
      assertThat(readsOf(placement, asks)).containsExactly("read payload");
    }
    assertThat(readsOf(placement, Message::length)).isEmpty();
  }

  private List<String> readsOf(Placement placement, Inbox.Handler handler) throws IOException {
    try (Sides sides = Sides.traced(placement, CONFIG)) {
      long slot = sides.host.layout().slot(1, 0);
      TracedMemory memory =
          TracedMemory.of(sides.host)
              .name("payload", slot + SegmentConfig.GENERATION_BYTES, 60_000);
      send(sides.toHost, 1, payload(60_000, 1));
      memory.trace();
      sides.toGuest.inbox().receive(handler, message, 1);
      return memory.trace().stream().filter(it -> it.endsWith("payload")).toList();
    }
  }

  @ParameterizedTest
  @EnumSource
  void thoseThatWereNotCopiedAreGoneWhenTheHandlerHasReturned(Placement placement)
      throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      for (int length : List.of(500, 60_000)) {
        send(sides.toHost, 1, payload(length, 1));
        sides.toGuest.inbox().receive(_ -> {}, message, 1);
        assertThat(message.length()).isEqualTo(length);
        for (ThrowingCallable late :
            List.<ThrowingCallable>of(message::bytes, message::toByteArray, message::text)) {
          assertThatIllegalStateException()
              .isThrownBy(late)
              .withMessage(
                  "the handler has returned, so the bytes are gone: REQUEST 1 with %d bytes",
                  length);
        }

        send(sides.toHost, 1, payload(length, 2));
        sides.toGuest.inbox().receive(Message::bytes, message, 1);
        assertThat(message.toByteArray()).isEqualTo(payload(length, 2));

        send(sides.toHost, 1, payload(length, 3));
        assertThat(sides.toGuest.inbox().receive(message)).isTrue();
        assertThat(message.toByteArray()).isEqualTo(payload(length, 3));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("dev.belfry.shm.LinkTest#ways")
  void theirSlotIsNotFreeBeforeTheHandlerHasReturned(Placement placement, Direction direction)
      throws IOException {
    int pool = direction == Direction.TO_HOST ? 1 : 0;
    for (SegmentConfig config : List.of(ONE_SLOT, CONFIG.withSlots(4, 1024))) {
      try (Sides sides = Sides.of(placement, config)) {
        int count = config.slotsPerGuest();
        for (int i = 0; i < count; i++) {
          send(sides.sender(direction), i, payload(500, i));
        }
        var free = new ArrayList<Integer>();
        Inbox.Handler handler = _ -> free.add(sides.freeSlots(pool));
        assertThat(sides.receiver(direction).inbox().receive(handler, message, 9)).isEqualTo(count);
        for (int i = 0; i < count; i++) {
          assertThat(free.get(i)).as("while message %d is handed out", i).isLessThanOrEqualTo(i);
        }
        assertThat(sides.freeSlots(pool)).isEqualTo(count);
      }
    }
  }

  /**
   * A sender that sleeps for want of a slot is woken, but one that spins must find the slot free.
   */
  @ParameterizedTest
  @MethodSource("dev.belfry.shm.LinkTest#ways")
  void theOnlySlotIsFreeAtOnceThoughTheNextMessageIsThere(Placement placement, Direction direction)
      throws IOException {
    try (Sides sides = Sides.of(placement, ONE_SLOT)) {
      send(sides.sender(direction), 1, payload(500, 1));
      send(sides.sender(direction), 2, payload(10, 2));
      assertThat(sides.receiver(direction).inbox().receive(message)).isTrue();
      assertThat(sides.freeSlots(direction == Direction.TO_HOST ? 1 : 0)).isEqualTo(1);
    }
  }

  // r[verify shm.slot.generation]
  @ParameterizedTest
  @EnumSource
  void aSlotThatIsChangedWhileItIsReadIsAViolation(Placement placement) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      send(sides.toHost, 1, payload(60_000, 1));
      long slot = sides.host.layout().slot(1, 0);
      Inbox.Handler handler =
          it -> {
            sides.bytes().set(JAVA_INT, slot, 77);
            it.toByteArray();
          };
      Inbox inbox = sides.toGuest.inbox();
      for (ThrowingCallable call :
          List.<ThrowingCallable>of(
              () -> inbox.receive(handler, message, 1), () -> inbox.receive(message))) {
        assertThatExceptionOfType(ProtocolViolation.class)
            .isThrownBy(call)
            .satisfies(it -> assertThat(it.kind()).isEqualTo(Kind.SLOT_GENERATION));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("dev.belfry.shm.LinkTest#ways")
  void twoPartsArriveAsOneMessage(Placement placement, Direction direction) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      for (int prefixed : new int[] {0, 1, 4, 40, 200}) {
        byte[] prefix = payload(prefixed, 9);
        for (int length : LENGTHS) {
          byte[] bytes = payload(length + 3, length);
          assertThat(sendParts(sides.sender(direction), prefix, bytes, 2, length))
              .isEqualTo(SendResult.SENT);
          assertThat(sides.receiver(direction).inbox().receive(message)).isTrue();
          byte[] joined = Arrays.copyOf(prefix, prefixed + length);
          System.arraycopy(bytes, 2, joined, prefixed, length);
          assertThat(message.toByteArray()).isEqualTo(joined);
        }
      }
    }
  }

  @Test
  void togetherTwoPartsAreNoLongerThanAnyMessage() throws IOException {
    try (Sides sides = Sides.of(Placement.PADDED, CONFIG)) {
      int most = CONFIG.maxPayloadSize();
      byte[] bytes = payload(most, 1);
      byte[] prefix = payload(4, 2);
      assertThat(sendParts(sides.toHost, prefix, bytes, 0, most - 4)).isEqualTo(SendResult.SENT);
      assertThat(sendParts(sides.toHost, prefix, bytes, 0, most - 3))
          .isEqualTo(SendResult.TOO_LARGE);
      assertThat(sendParts(sides.toHost, payload(most + 1, 2), bytes, 0, 0))
          .isEqualTo(SendResult.TOO_LARGE);
    }
  }

  private static SendResult sendParts(
      Link link, byte[] prefix, byte[] bytes, int offset, int length) {
    return link.outbox().send(MessageKind.REQUEST, 1, 0, prefix, bytes, offset, length);
  }
}
