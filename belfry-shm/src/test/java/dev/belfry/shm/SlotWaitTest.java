package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.inMillis;
import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Waiting for a slot, which is waiting for the tail of whoever gives one back. */
final class SlotWaitTest {
  private final Message message = new Message();

  private static CompletableFuture<SendResult> sending(Link link) throws IOException {
    CompletableFuture<SendResult> result =
        CompletableFuture.supplyAsync(
            () ->
                link.outbox()
                    .send(MessageKind.DATA, 9, 0, payload(100, 9), 0, 100, inMillis(60_000)));
    while (SleepingThreads.count() == 0) {
      Thread.onSpinWait();
    }
    return result;
  }

  // r[verify shm.wakeup.slot-wait]
  @ParameterizedTest
  @EnumSource
  void aSenderWithoutASlotGoesOnWhenAnyOfThemIsGivenBack(Placement placement) throws Exception {
    try (Sides sides = Sides.of(placement, CONFIG.withRingSize(128).withSlots(70, 128))) {
      for (int i = 0; i < 70; i++) {
        assertThat(send(sides.toHost, i, payload(100, i))).isEqualTo(SendResult.SENT);
      }
      for (int i = 0; i < 70; i++) { // every slot once, those of the second word too
        CompletableFuture<SendResult> waiting = sending(sides.toHost);
        assertThat(sides.toGuest.inbox().receive(message)).isTrue();
        assertThat(message.id()).isEqualTo(i);
        assertThat(waiting.get()).isEqualTo(SendResult.SENT);
      }
      assertThat(sides.toHost.outbox().unwoken()).isZero();
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
      CompletableFuture<SendResult> waiting = sending(toSecond);
      assertThat(sides.toHost.inbox().receive(message)).isTrue(); // the first guest, not this one
      assertThat(waiting.get()).isEqualTo(SendResult.SENT);
      assertThat(toSecond.outbox().unwoken()).isZero();
      assertThat(second.inbox().receive(message)).isTrue();
      assertThat(message.toByteArray()).isEqualTo(payload(100, 9));
    }
  }
}
