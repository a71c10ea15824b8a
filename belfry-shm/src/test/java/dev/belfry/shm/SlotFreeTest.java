package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** When the slots of messages that were read can be reused. */
@Timeout(120)
final class SlotFreeTest {
  private static final int SLOTS = 70;

  /** The offset of the slot and its generation in a descriptor. */
  private static final long SLOT = 16;

  @TempDir private Path directory;

  private final Message message = new Message();

  private void sendAndReceive(Sides sides, Direction direction, int sent, int received) {
    for (int i = 0; i < sent; i++) {
      assertThat(send(sides.sender(direction), i, payload(100, i))).isEqualTo(SendResult.SENT);
    }
    for (int i = 0; i < received; i++) {
      assertThat(sides.receiver(direction).inbox().receive(message)).isTrue();
    }
  }

  private static int pool(Direction direction) {
    return direction == Direction.TO_HOST ? 1 : 0;
  }

  /** Slots may be given back several at a time, but never more than half of them are held. */
  // r[verify shm.slot.free]
  @ParameterizedTest
  @MethodSource("dev.belfry.shm.LinkTest#ways")
  void halfOfTheSlotsCanBeUsedAgainWhenThatManyWereRead(Placement placement, Direction direction)
      throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG.withRingSize(16).withSlots(8, 128))) {
      sendAndReceive(sides, direction, 8, 4);
      sendAndReceive(sides, direction, 4, 8);
    }
  }

  // r[verify shm.slot.free]
  @ParameterizedTest
  @MethodSource("dev.belfry.shm.LinkTest#ways")
  void noneIsKeptAfterTheLastMessage(Placement placement, Direction direction) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG.withRingSize(16).withSlots(8, 128))) {
      for (int count = 1; count <= 8; count++) {
        sendAndReceive(sides, direction, count, count);
        assertThat(sides.freeSlots(pool(direction))).as("after %d", count).isEqualTo(8);
      }
      // Even if that message needed no slot.
      sendAndReceive(sides, direction, 2, 0);
      send(sides.sender(direction), 9, payload(9, 9));
      sendAndReceive(sides, direction, 0, 3);
      assertThat(sides.freeSlots(pool(direction))).isEqualTo(8);
    }
  }

  /** In format 1 it is unknown whether the owner sleeps, and the host's pool serves all guests. */
  // r[verify shm.slot.free]
  @ParameterizedTest
  @MethodSource("dev.belfry.shm.LinkTest#ways")
  void onlyTheHostKeepsAnyAndOnlyInThePaddedPlacement(Placement placement, Direction direction)
      throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG.withRingSize(16).withSlots(8, 128))) {
      boolean mayKeep = placement == Placement.PADDED && direction == Direction.TO_HOST;
      sendAndReceive(sides, direction, 8, 0);
      for (int read = 1; read <= 8; read++) {
        sendAndReceive(sides, direction, 0, 1);
        assertThat(sides.freeSlots(pool(direction)))
            .as("after %d of 8", read)
            .isBetween(mayKeep ? read - read % 4 : read, read);
      }
    }
  }

  /** A sleeping owner wants a slot now, and gets it from no one else. */
  // r[verify shm.slot.free]
  @ParameterizedTest
  @MethodSource("dev.belfry.shm.LinkTest#ways")
  void noneIsKeptWhileTheOwnerSleeps(Placement placement, Direction direction) throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG.withRingSize(16).withSlots(8, 128))) {
      sendAndReceive(sides, direction, 8, 1);
      sides.sender(direction).outbox().ring().armSpace();
      sendAndReceive(sides, direction, 0, 1);
      assertThat(sides.freeSlots(pool(direction))).isEqualTo(2);
    }
  }

  /** The host shuffles the descriptors of what it has sent before the guest reads them. */
  // r[verify shm.slot.free]
  // r[verify shm.slot.pool-layout]
  @ParameterizedTest
  @EnumSource
  void slotsThatAnotherProcessFreesInRandomOrderAreAllFoundAgain(Placement placement)
      throws Exception {
    List<String> inC = new CGuests(directory).stepping();
    SegmentConfig config = CONFIG.withMaxGuests(1).withRingSize(128).withSlots(SLOTS, 128);
    HostOptions options = HostOptions.DEFAULT.withPlacement(placement).withConfig(config);
    try (HostFixture fixture = HostFixture.of(options)) {
      for (List<String> command : List.of(SteppedGuest.JAVA, inC)) {
        var notices = new Notices();
        try (SteppedGuest guest =
            SteppedGuest.attached(fixture.host(), command, notices.options())) {
          var random = new Random(7);
          for (int round = 0; round < 3; round++) {
            sendShuffled(fixture.host().segment(), guest.peer(), round * SLOTS, random);
            for (int i = 0; i < SLOTS; i++) {
              guest.step("receive", "REQUEST %d 100".formatted(i));
            }
          }
          guest.kill();
        }
        while (!notices.next().startsWith("gone")) {}
        fixture.assertAllFree();
      }
    }
  }

  /** Sends a message through every slot, then swaps the slots of their descriptors. */
  private static void sendShuffled(Segment segment, Peer peer, int head, Random random) {
    for (int i = 0; i < SLOTS; i++) {
      byte[] bytes = payload(100, i);
      assertThat(
              peer.sendBlocking(
                  MessageKind.REQUEST,
                  i,
                  0,
                  bytes,
                  0,
                  100,
                  System.nanoTime() + TestProcess.PATIENCE.toNanos()))
          .isEqualTo(SendResult.SENT);
    }
    assertThat(segment.hostSlotsUsed()).isEqualTo(SLOTS);
    var order = new ArrayList<Long>();
    for (int i = 0; i < SLOTS; i++) {
      order.add(descriptor(segment, head + i).get(JAVA_LONG_UNALIGNED, SLOT));
    }
    Collections.shuffle(order, random);
    for (int i = 0; i < SLOTS; i++) {
      descriptor(segment, head + i).set(JAVA_LONG_UNALIGNED, SLOT, order.get(i));
    }
  }

  private static MemorySegment descriptor(Segment segment, int counter) {
    SegmentLayout layout = segment.layout();
    long index = counter % layout.config().ringSize();
    long offset = layout.ring(1, Direction.TO_GUEST) + index * layout.descriptorBytes();
    return segment.memory().mapping().asSlice(offset, layout.descriptorBytes());
  }
}
