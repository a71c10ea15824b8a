package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.inMillis;
import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Waiting for a slot means waiting for the tail of the receiver that gives one back. */
@Timeout(180)
final class SlotWaitTest {
  private final Message message = new Message();

  /** Sends, and sleeps for it, for ever unless woken: a deadline would find what was missed. */
  private static Sleeper<SendResult> sending(Link link) throws Exception {
    link.outbox().sleepAtMost(Sleeper.NEVER_NANOS);
    return Sleeper.start(
        () ->
            link.outbox().send(MessageKind.DATA, 9, 0, payload(100, 9), 0, 100, FutexWait.FOREVER));
  }

  // r[verify shm.wakeup.slot-wait]
  // r[verify shm.slot.free]
  @ParameterizedTest
  @EnumSource
  void aSenderWithoutASlotGoesOnWhenAnyOfThemIsGivenBack(Placement placement) throws Exception {
    try (Sides sides = Sides.of(placement, CONFIG.withRingSize(128).withSlots(70, 128))) {
      for (int i = 0; i < 70; i++) {
        assertThat(send(sides.toHost, i, payload(100, i))).isEqualTo(SendResult.SENT);
      }
      for (int i = 0; i < 70; i++) { // every slot once, including those of the second word
        Sleeper<SendResult> waiting = sending(sides.toHost);
        assertThat(sides.toGuest.inbox().receive(message)).isTrue();
        assertThat(message.id()).isEqualTo(i);
        assertThat(waiting.get()).isEqualTo(SendResult.SENT);
      }
    }
  }

  // r[verify shm.wakeup.slot-wait]
  @ParameterizedTest
  @EnumSource
  void theHostWaitsForASlotThatAnotherGuestHolds(Placement placement) throws Exception {
    try (Sides sides = Sides.of(placement, CONFIG.withSlots(2, 128));
        Segment other =
            Segment.attach(
                Sys.forAnyThread(), Path.of("/proc/self/fd/" + sides.host.descriptor()))) {
      send(sides.toGuest, 1, payload(100, 1));
      send(sides.toGuest, 2, payload(100, 2));
      Link second = Link.walkIn(other, WaitStrategy.SLEEP);
      Link toSecond = Link.toGuest(sides.host, second.peer(), WaitStrategy.SLEEP);
      Sleeper<SendResult> waiting = sending(toSecond);
      assertThat(sides.toHost.inbox().receive(message)).isTrue(); // the first guest, not this one
      assertThat(waiting.get()).isEqualTo(SendResult.SENT);
      assertThat(second.inbox().receive(message)).isTrue();
      assertThat(message.toByteArray()).isEqualTo(payload(100, 9));
    }
  }

  /**
   * A virtual thread, which watches only one word, used to watch that of its own guest to the end
   * of its slice.
   */
  // r[verify shm.wakeup.slot-wait]
  @ParameterizedTest
  @EnumSource
  void aVirtualThreadLooksSoonForASlotThatAnotherGuestHolds(Placement placement) throws Exception {
    try (Sides sides = Sides.of(placement, CONFIG.withSlots(2, 128))) {
      Link second = Link.walkIn(sides.guest, WaitStrategy.SLEEP);
      Link toSecond = Link.toGuest(sides.host, second.peer(), WaitStrategy.SLEEP);
      Awaitable shortage =
          sides
              .host
              .hostSlots()
              .sourceFor(2)
              .shortage(toSecond, toSecond.outbox().ring(), () -> false);
      var slept = new CompletableFuture<WaitResult>();
      Thread.ofVirtual()
          .start(
              () -> {
                int own = shortage.arm();
                var futex = new FutexWait(Sys.forAnyThread());
                slept.complete(shortage.sleep(futex, own, inMillis(120_000)));
              });
      assertThat(slept.get(60, TimeUnit.SECONDS)).isEqualTo(WaitResult.TIMEOUT);
    }
  }

  /**
   * The waiter was woken when the guest died, and went back to sleep on the words of the others;
   * nothing used to wake it when the dead guest's slots became free.
   */
  // r[verify shm.wakeup.slot-wait]
  // r[verify shm.crash.recovery]
  @ParameterizedTest
  @EnumSource
  void theHostWaitsForASlotThatADeadGuestHeld(Placement placement) throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    var sleeps = new CountDownLatch(1);
    tap.script(
        "futex",
        (_, arguments) -> {
          if (arguments.length > 3) { // on one word, no longer on those of both guests
            sleeps.countDown();
          }
          return OptionalLong.empty();
        });
    SegmentConfig config = CONFIG.withSlots(2, 128);
    try (Sides sides = Sides.of(tap.sys(), placement, config, WaitStrategy.SLEEP)) {
      send(sides.toGuest, 1, payload(100, 1));
      send(sides.toGuest, 2, payload(100, 2));
      Link second = Link.walkIn(sides.guest, WaitStrategy.SLEEP);
      Link toSecond = Link.toGuest(sides.host, second.peer(), WaitStrategy.SLEEP);
      Sleeper<SendResult> waiting = sending(toSecond);
      sides.host.peers().leave(1, 1);
      sides.toGuest.close();
      sleeps.await();
      waiting.awaitSleep();
      sides.host.peers().recover(1);
      assertThat(waiting.get()).isEqualTo(SendResult.SENT);
    }
  }
}
