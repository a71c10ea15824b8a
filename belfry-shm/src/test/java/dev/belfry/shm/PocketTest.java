package dev.belfry.shm;

import static dev.belfry.shm.Direction.TO_GUEST;
import static dev.belfry.shm.Direction.TO_HOST;
import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pockets: for messages too long for a descriptor and too short for a slot. */
// r[verify shm.placement.pockets]
final class PocketTest {
  private static final int POCKETS = 256;
  private static final int POCKET_BYTES = 1152;
  private static final int SLOTS = 16;
  private static final SegmentConfig CONFIG = SegmentConfig.DEFAULT.withMaxGuests(1);

  private final Message message = new Message();

  @Test
  void aPocketHasASixtyFourthOfASlotAndThereAreAtMostSoMany() {
    SegmentLayout layout = new SegmentLayout(Placement.PADDED, CONFIG);
    assertThat(layout.pocketBytes()).isEqualTo(POCKET_BYTES);
    assertThat(layout.pocketCount()).isEqualTo(POCKETS);
    assertThat(padded(CONFIG.withRingSize(64)).pocketCount()).isEqualTo(64);
    assertThat(padded(CONFIG.withRingSize(1024)).pocketCount()).isEqualTo(POCKETS);
    assertThat(padded(CONFIG.withSlots(16, 8192)).pocketBytes()).isEqualTo(128);
  }

  @Test
  void thereAreNoneInFormat1NorWhereADescriptorHoldsAsMuch() {
    for (SegmentLayout layout :
        new SegmentLayout[] {
          new SegmentLayout(Placement.V1, CONFIG), padded(CONFIG.withSlots(16, 96 * 64))
        }) {
      assertThat(layout.pocketCount()).isZero();
      assertThat(layout.pocketBytes()).isZero();
    }
  }

  private static SegmentLayout padded(SegmentConfig config) {
    return new SegmentLayout(Placement.PADDED, config);
  }

  @Test
  void theyOverlapNothingOfTheirAreaAndFillItToTheEnd() {
    var layout = padded(CONFIG.withMaxGuests(2));
    long all = (long) POCKETS * POCKET_BYTES;
    assertThat(layout.pockets(1, TO_HOST))
        .isEqualTo(layout.channelTable(1) + layout.channelTableBytes());
    assertThat(layout.pockets(1, TO_GUEST)).isEqualTo(layout.pockets(1, TO_HOST) + all);
    assertThat(layout.ring(2, TO_HOST)).isEqualTo(layout.pockets(1, TO_GUEST) + all);
    assertThat(layout.totalBytes()).isEqualTo(layout.pockets(2, TO_GUEST) + all);
  }

  @ParameterizedTest
  @EnumSource
  void whatFitsIntoAPocketTakesNoSlot(Direction direction) throws IOException {
    try (Sides sides = Sides.of(Placement.PADDED, CONFIG)) {
      int pool = direction == TO_HOST ? 1 : 0;
      for (int length = 97; length <= POCKET_BYTES + 8; length++) {
        byte[] bytes = payload(length, length);
        assertThat(send(sides.sender(direction), length, bytes)).isEqualTo(SendResult.SENT);
        assertThat(sides.freeSlots(pool)).isEqualTo(length <= POCKET_BYTES ? SLOTS : SLOTS - 1);
        assertReceived(sides.receiver(direction), length, bytes);
      }
      assertThat(sides.freeSlots(pool)).isEqualTo(SLOTS);
    }
  }

  private void assertReceived(Link link, int id, byte[] bytes) {
    assertThat(link.inbox().receive(message)).isTrue();
    assertThat(message.id()).isEqualTo(id);
    assertThat(message.toByteArray()).isEqualTo(bytes);
  }

  @ParameterizedTest
  @EnumSource
  void aFullRingOfMessagesNeedsNoSlot(Direction direction) throws IOException {
    try (Sides sides = Sides.of(Placement.PADDED, CONFIG)) {
      for (int lap = 0; lap < 3; lap++) {
        int count = CONFIG.ringSize() - 1;
        for (int i = 0; i < count; i++) {
          assertThat(send(sides.sender(direction), i, payload(500, i))).isEqualTo(SendResult.SENT);
        }
        assertThat(send(sides.sender(direction), 0, payload(500, 0)))
            .isEqualTo(SendResult.RING_FULL);
        for (int i = 0; i < count; i++) {
          assertReceived(sides.receiver(direction), i, payload(500, i));
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aPocketIsUsedAgainOnlyWhenItsMessageWasRead(Direction direction) throws IOException {
    try (Sides sides = Sides.of(Placement.PADDED, CONFIG.withRingSize(1024))) {
      Link sender = sides.sender(direction);
      int pool = direction == TO_HOST ? 1 : 0;
      int sent = 0;
      while (sent < POCKETS + SLOTS) {
        assertThat(sides.freeSlots(pool)).isEqualTo(SLOTS - Math.max(0, sent - POCKETS));
        assertThat(send(sender, sent, payload(500, sent))).isEqualTo(SendResult.SENT);
        sent++;
      }
      assertThat(send(sender, sent, payload(500, sent))).isEqualTo(SendResult.NO_SLOT);
      for (int read = 0; read < SLOTS + 1; read++) {
        assertReceived(sides.receiver(direction), read, payload(500, read));
      }
      // So many are left that the pocket of the next message is free, although no slot is.
      assertThat(sides.freeSlots(pool)).isZero();
      assertThat(send(sender, sent, payload(500, sent))).isEqualTo(SendResult.SENT);
      assertThat(sides.freeSlots(pool)).isZero();
      for (int read = SLOTS + 1; read <= sent; read++) {
        assertReceived(sides.receiver(direction), read, payload(500, read));
      }
    }
  }

  /** It used to wait for a slot only, which nobody gives back before the pockets were read. */
  // r[verify shm.wakeup.slot-wait]
  @ParameterizedTest
  @EnumSource
  void whoFoundNeitherPocketNorSlotGoesOnWhenAPocketComesFree(Direction direction)
      throws Exception {
    try (Sides sides = Sides.of(Placement.PADDED, CONFIG.withRingSize(1024))) {
      Outbox sender = sides.sender(direction).outbox();
      int sent = fill(sides.sender(direction));
      sender.sleepAtMost(Sleeper.NEVER_NANOS);
      Sleeper<SendResult> waiting =
          Sleeper.start(
              () ->
                  sender.send(
                      MessageKind.REQUEST, 9, 0, payload(500, 9), 0, 500, Sides.inMillis(60_000)));
      for (int read = 0; read < SLOTS; read++) {
        assertReceived(sides.receiver(direction), read, payload(500, read));
      }
      assertThat(waiting.isDone()).isFalse();
      assertReceived(sides.receiver(direction), SLOTS, payload(500, SLOTS));
      assertThat(waiting.get()).isEqualTo(SendResult.SENT);
      assertThat(sides.freeSlots(direction == TO_HOST ? 1 : 0)).isZero();
      assertThat(sent).isEqualTo(POCKETS + SLOTS);
    }
  }

  /** Sends until there is neither pocket nor slot; returns how many messages it took. */
  private static int fill(Link sender) {
    int sent = 0;
    while (send(sender, sent, payload(500, sent)) == SendResult.SENT) {
      sent++;
    }
    return sent;
  }

  // r[verify shm.wakeup.loop-wait]
  @ParameterizedTest
  @EnumSource
  void theSameHoldsOnALoop(Direction direction) throws Exception {
    try (RunningLoop loop = RunningLoop.start();
        Sides sides = Sides.of(Placement.PADDED, CONFIG.withRingSize(1024))) {
      Link sender = sides.sender(direction);
      fill(sender);
      var room = new Room(sender, Sleeper.NEVER_NANOS);
      CompletableFuture<Awaited> pocketOrSlot = room.await(loop.loop(), SendResult.NO_SLOT);
      assertThat(send(sender, 9, payload(POCKET_BYTES + 1, 9))).isEqualTo(SendResult.NO_SLOT);
      CompletableFuture<Awaited> slot = room.await(loop.loop(), SendResult.NO_SLOT);
      loop.call(() -> true); // both have looked once
      for (int read = 0; read <= SLOTS; read++) {
        assertThat(pocketOrSlot).isNotDone();
        assertReceived(sides.receiver(direction), read, payload(500, read));
      }
      assertThat(pocketOrSlot.get(30, TimeUnit.SECONDS)).isEqualTo(Awaited.READY);
      for (int read = SLOTS + 1; read < POCKETS + SLOTS; read++) {
        assertThat(read >= POCKETS || !slot.isDone()).isTrue();
        assertReceived(sides.receiver(direction), read, payload(500, read));
      }
      assertThat(slot.get(30, TimeUnit.SECONDS)).isEqualTo(Awaited.READY);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {501, POCKET_BYTES, POCKET_BYTES + 1, Integer.MAX_VALUE, -1})
  void aLengthThatNoPocketCanHoldIsAViolation(int length) throws IOException {
    var atMost500 = new SegmentConfig(500, 0, 1, 8, 65536, 2, 1, 0);
    try (Sides sides = Sides.of(Placement.PADDED, atMost500)) {
      assertThat(send(sides.toHost, 1, payload(500, 1))).isEqualTo(SendResult.SENT);
      assertThat(send(sides.toHost, 1, payload(501, 1))).isEqualTo(SendResult.TOO_LARGE);
      long descriptor = sides.host.layout().ring(1, TO_HOST);
      sides.bytes().set(JAVA_INT, descriptor + 28, length);
      assertThatExceptionOfType(ProtocolViolation.class)
          .isThrownBy(() -> sides.toGuest.inbox().receive(message))
          .satisfies(it -> assertThat(it.kind()).isEqualTo(ProtocolViolation.Kind.PAYLOAD_LENGTH));
    }
  }
}
