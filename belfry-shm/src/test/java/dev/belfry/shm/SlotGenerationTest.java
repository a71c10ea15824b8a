package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The numbers that count how often a slot was used. */
final class SlotGenerationTest {

  /** After four billion uses of each slot, 0 is a number like any other, also for the first. */
  // r[verify shm.slot.generation]
  @ParameterizedTest
  @EnumSource
  void generationsPassTwoToThe32(Placement placement) throws IOException {
    var message = new Message();
    try (Sides sides = Sides.of(placement, CONFIG)) {
      SegmentLayout layout = sides.host.layout();
      int slots = layout.config().slotsPerGuest();
      for (int slot = 0; slot < slots; slot++) {
        sides.bytes().set(JAVA_INT, layout.slot(2, slot), slot % 2 == 0 ? -1 : -2);
      }
      Link toHost = Link.walkIn(sides.guest, WaitStrategy.SLEEP);
      Link toGuest = Link.toGuest(sides.host, 2, WaitStrategy.SLEEP);
      for (int lap = 0; lap < 4; lap++) {
        for (int i = 0; i < slots; i++) {
          assertThat(send(toHost, i, payload(100, i))).isEqualTo(SendResult.SENT);
        }
        for (int i = 0; i < slots; i++) {
          assertThat(toGuest.inbox().receive(message)).isTrue();
          assertThat(message.toByteArray()).isEqualTo(payload(100, i));
        }
      }
      for (int slot = 0; slot < slots; slot++) {
        assertThat(sides.bytes().get(JAVA_INT, layout.slot(2, slot)))
            .isEqualTo(slot % 2 == 0 ? 3 : 2);
      }
    }
  }
}
