package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A sender that waits for space or for a slot misses neither, however the counters stand. */
@Timeout(180)
final class RoomWaitTest {
  private static final int SLOTS = 70;

  private final Message message = new Message();

  private static Stream<Arguments> eachWith(Integer... values) {
    return Stream.of(Placement.values())
        .flatMap(placement -> Stream.of(values).map(value -> Arguments.of(placement, value)));
  }

  static Stream<Arguments> counters() {
    return eachWith(0, 5, -2);
  }

  static Stream<Arguments> slots() {
    return eachWith(0, 40, 65);
  }

  /** Sends, and sleeps for it, for ever unless woken: a deadline would find what was missed. */
  private static Sleeper<SendResult> sending(Link link, int length) throws Exception {
    link.outbox().sleepAtMost(Sleeper.NEVER_NANOS);
    return Sleeper.start(() -> sendBlocking(link, length));
  }

  private static SendResult sendBlocking(Link link, int length) {
    byte[] bytes = payload(length, 9);
    return link.outbox().send(MessageKind.DATA, 9, 0, bytes, 0, length, FutexWait.FOREVER);
  }

  private void receive(Link link, int id) {
    assertThat(link.inbox().receive(message)).isTrue();
    assertThat(message.id()).isEqualTo(id);
  }

  // r[verify shm.wakeup.producer-wait]
  @ParameterizedTest
  @MethodSource("counters")
  void aSenderWithoutSpaceGoesOnWhenOneMessageIsRead(Placement placement, int counter)
      throws Exception {
    SegmentConfig config = CONFIG.withRingSize(4);
    try (Sides sides = Sides.of(Sys.forAnyThread(), placement, config, WaitStrategy.SLEEP)) {
      WrapStart.at(sides.host, sides.toHost, sides.toGuest, counter);
      for (int i = 0; i < 3; i++) {
        assertThat(send(sides.toHost, i, new byte[1])).isEqualTo(SendResult.SENT);
      }
      Sleeper<SendResult> waiting = sending(sides.toHost, 1);
      receive(sides.toGuest, 0);
      assertThat(waiting.get()).isEqualTo(SendResult.SENT);
      for (int id : new int[] {1, 2, 9}) {
        receive(sides.toGuest, id);
      }
    }
  }

  /** What is given back after the look at the bitmap changes the word that is slept on. */
  // r[verify shm.wakeup.slot-wait]
  @ParameterizedTest
  @EnumSource
  void theWordToSleepOnIsReadBeforeTheLookForASlot(Placement placement) throws IOException {
    SegmentConfig config = CONFIG.withSlots(2, 128);
    try (Sides sides = Sides.traced(placement, config)) {
      send(sides.toHost, 1, payload(100, 1));
      send(sides.toHost, 2, payload(100, 2));
      SegmentLayout layout = sides.guest.layout();
      TracedMemory memory =
          TracedMemory.of(sides.guest)
              .name("bitmap", layout.pool(1), Long.BYTES)
              .name("tail", layout.tail(1, Direction.TO_HOST), Integer.BYTES);
      if (layout.isPadded()) {
        memory.name("flag", layout.spaceSleeper(1, Direction.TO_HOST), Integer.BYTES);
      }
      assertThat(sides.toHost.outbox().awaitSlot(System.nanoTime())).isEqualTo(Awaited.TIMEOUT);
      List<String> trace = memory.trace();
      assertThat(trace.getFirst())
          .isEqualTo(layout.isPadded() ? "setInt flag" : "getIntAcquire tail");
      assertThat(trace.subList(1, trace.size())).isNotEmpty().containsOnly("getLongAcquire bitmap");
    }
  }

  /** It has seen that there is none, and is about to sleep: nobody would wake it afterwards. */
  // r[verify shm.wakeup.slot-wait]
  @ParameterizedTest
  @MethodSource("slots")
  void aSlotThatIsGivenBackJustBeforeTheSleepIsNotMissed(Placement placement, int slot)
      throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    SegmentConfig config = CONFIG.withRingSize(128).withSlots(SLOTS, 128);
    try (Sides sides = Sides.of(tap.sys(), placement, config, WaitStrategy.SLEEP)) {
      for (int i = 0; i < SLOTS + slot; i++) {
        if (i >= SLOTS) {
          sides.toHost.outbox().ring().armSpace(); // so that the host keeps none
          receive(sides.toGuest, i - SLOTS);
        }
        assertThat(send(sides.toHost, i, payload(100, i))).isEqualTo(SendResult.SENT);
      }
      assertThat(send(sides.toHost, 0, payload(100, 0))).isEqualTo(SendResult.NO_SLOT);
      var given = new AtomicBoolean();
      tap.script(
          "futex",
          (_, arguments) -> {
            boolean sleeps = arguments.length > 3;
            if (sleeps && !given.getAndSet(true)) {
              receive(sides.toGuest, slot);
            }
            return OptionalLong.empty();
          });
      sides.toHost.outbox().sleepAtMost(Sleeper.NEVER_NANOS);
      assertThat(sendBlocking(sides.toHost, 100)).isEqualTo(SendResult.SENT);
      assertThat(given).isTrue();
    }
  }
}
