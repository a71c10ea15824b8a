package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * In which sequence, and with which memory order, the two sides access what they share. Only a
 * trace can prove this: most machines keep an order that they were not asked for.
 */
final class MemoryOrderTest {
  private final Message message = new Message();

  private static Segment receiving(Sides sides, Direction direction) {
    return direction == Direction.TO_HOST ? sides.host : sides.guest;
  }

  private static Segment sending(Sides sides, Direction direction) {
    return receiving(sides, direction.opposite());
  }

  private static int pool(Direction direction) {
    return direction == Direction.TO_HOST ? 1 : 0;
  }

  // r[verify shm.slot.free]
  // r[verify shm.ordering.ring-consume]
  @ParameterizedTest
  @MethodSource("dev.belfry.shm.LinkTest#ways")
  void aReceiverCopiesThenFreesTheSlotThenAdvancesTheTail(Placement placement, Direction direction)
      throws IOException {
    try (Sides sides = Sides.traced(placement, CONFIG)) {
      TracedMemory memory = nameAll(receiving(sides, direction), direction);
      send(sides.sender(direction), 1, payload(100, 1));
      memory.trace();
      assertThat(sides.receiver(direction).inbox().receive(message)).isTrue();
      assertThat(memory.trace())
          .filteredOn(it -> !it.endsWith("descriptor") && !it.endsWith("head"))
          .containsExactly(
              "getInt generation",
              "read payload",
              "getIntAcquire generation",
              "getAndOrLongRelease bitmap",
              "setIntRelease tail");
      assertThat(message.toByteArray()).isEqualTo(payload(100, 1));
    }
  }

  // r[verify shm.slot.free]
  @ParameterizedTest
  @MethodSource("dev.belfry.shm.LinkTest#ways")
  void theSlotsOfABatchAreFreeBeforeTheTailSaysThatItWasRead(
      Placement placement, Direction direction) throws IOException {
    try (Sides sides = Sides.traced(placement, CONFIG.withSlots(8, 1024))) {
      TracedMemory memory = nameAll(receiving(sides, direction), direction);
      send(sides.sender(direction), 1, payload(100, 1));
      send(sides.sender(direction), 2, payload(100, 2));
      memory.trace();
      assertThat(sides.receiver(direction).inbox().receive(Message::bytes, message, 4))
          .isEqualTo(2);
      assertThat(memory.trace())
          .filteredOn(it -> it.endsWith("payload") || it.endsWith("bitmap") || it.endsWith("tail"))
          .containsExactly("read payload", "getAndOrLongRelease bitmap", "setIntRelease tail");
    }
  }

  // r[verify shm.ordering.ring-publish]
  // r[verify shm.ordering.ring-consume]
  @ParameterizedTest
  @MethodSource("dev.belfry.shm.LinkTest#ways")
  void aMessageIsWrittenBeforeItIsShownAndReadAfterItWasSeen(
      Placement placement, Direction direction) throws IOException {
    try (Sides sides = Sides.traced(placement, CONFIG)) {
      TracedMemory written = nameAll(sending(sides, direction), direction);
      TracedMemory read = nameAll(receiving(sides, direction), direction);
      send(sides.sender(direction), 1, payload(100, 1));
      List<String> sent = written.trace();
      assertThat(sent)
          .containsSubsequence(
              "setInt generation",
              "write payload",
              "setLongRelease descriptor",
              "setIntRelease head");
      assertThat(sent.indexOf("setLongRelease descriptor"))
          .as("nothing of the descriptor is written after its mark")
          .isEqualTo(sent.lastIndexOf("setLongRelease descriptor"))
          .isGreaterThan(sent.lastIndexOf("setLong descriptor"));
      assertThat(sides.receiver(direction).inbox().receive(message)).isTrue();
      assertThat(read.trace())
          .startsWith(
              placement == Placement.V1 ? "getIntAcquire head" : "getLongAcquire descriptor");
    }
  }

  /** Names everything that the first large message in a direction touches. */
  private static TracedMemory nameAll(Segment segment, Direction direction) {
    SegmentLayout layout = segment.layout();
    long slot = layout.slot(pool(direction), 0);
    return TracedMemory.of(segment)
        .name("generation", slot, SegmentConfig.GENERATION_BYTES)
        .name("payload", slot + SegmentConfig.GENERATION_BYTES, 100)
        .name("bitmap", layout.pool(pool(direction)), Long.BYTES)
        .name("descriptor", layout.ring(1, direction), layout.descriptorBytes())
        .name("head", layout.head(1, direction), Integer.BYTES)
        .name("tail", layout.tail(1, direction), Integer.BYTES);
  }

  // r[verify shm.flow.ordering.receiver]
  // r[verify shm.flow.ordering.sender]
  // r[verify shm.flow.counter-per-channel]
  @ParameterizedTest
  @EnumSource
  void creditIsGrantedWithReleaseAndSeenWithAcquire(Placement placement) throws IOException {
    try (Sides sides = Sides.traced(placement, CONFIG)) {
      Channel out = Objects.requireNonNull(sides.toHost.channels().open());
      long granted = sides.host.layout().channelGranted(1, out.id());
      long head = sides.host.layout().head(1, Direction.TO_HOST);
      TracedMemory sender =
          TracedMemory.of(sides.guest)
              .name("granted", granted, Integer.BYTES)
              .name("head", head, Integer.BYTES);
      TracedMemory receiver = TracedMemory.of(sides.host).name("granted", granted, Integer.BYTES);
      assertThat(out.send(payload(90, 1), 0, 90)).isEqualTo(SendResult.SENT);
      assertThat(sender.trace()).containsExactly("getIntAcquire granted", "setIntRelease head");
      assertThat(sides.toGuest.inbox().receive(message)).isTrue();
      Channel in = Objects.requireNonNull(sides.toGuest.channels().of(message));
      assertThat(receiver.trace()).as("before it was consumed").isEmpty();
      in.grant(90);
      assertThat(receiver.trace()).containsExactly("getAndAddIntRelease granted");
      assertThat(out.awaitCredit(100, Sides.inMillis(30_000))).isEqualTo(Awaited.READY);
      assertThat(sender.trace()).isNotEmpty().containsOnly("getIntAcquire granted");
    }
  }

  // r[verify shm.goodbye.host-atomic]
  @ParameterizedTest
  @EnumSource
  void whoeverSeesTheGoodbyeSeesEveryMessageBeforeIt(Placement placement) throws Exception {
    for (int round = 0; round < 200; round++) {
      int messages = round % 7;
      try (Sides sides = Sides.of(placement, CONFIG)) {
        var reading = new FutureTask<>(() -> readAfterGoodbye(sides));
        Thread.ofPlatform().daemon().start(reading);
        for (int i = 0; i < messages; i++) {
          send(sides.toGuest, i, payload(i % 2 * 100, i));
        }
        sides.host.sayGoodbye();
        assertThat(reading.get(60, TimeUnit.SECONDS)).as("round %d", round).isEqualTo(messages);
      }
    }
  }

  private static int readAfterGoodbye(Sides sides) {
    while (!sides.guest.hasHostLeft()) {
      Thread.onSpinWait();
    }
    var scratch = new Message();
    int count = 0;
    while (sides.toHost.inbox().receive(scratch)) {
      count++;
    }
    return count;
  }

  // r[verify shm.goodbye.host-atomic]
  @ParameterizedTest
  @EnumSource
  void theHostSaysGoodbyeWithReleaseAndItIsSeenWithAcquire(Placement placement) throws IOException {
    try (Sides sides = Sides.traced(placement, CONFIG)) {
      TracedMemory host = TracedMemory.of(sides.host).name("goodbye", SegmentHeader.GOODBYE, 4);
      TracedMemory guest = TracedMemory.of(sides.guest).name("goodbye", SegmentHeader.GOODBYE, 4);
      sides.host.sayGoodbye();
      assertThat(host.trace()).containsExactly("setIntRelease goodbye");
      assertThat(send(sides.toHost, 1, new byte[1])).isEqualTo(SendResult.OVER);
      assertThat(guest.trace()).containsExactly("getIntAcquire goodbye");
    }
  }
}
