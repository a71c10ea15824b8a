package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Which configurations are valid, in the words of the format. */
final class SegmentConfigTest {

  static Stream<Arguments> refusals() {
    return Stream.of(
        // Each row fails its own check and all later ones.
        Arguments.of("max_payload_size must be > 0", config(0, 0, 0, 0, 0, 0)),
        Arguments.of("max_guests must be 1-255", config(1, 0, 0, 0, 0, 0)),
        Arguments.of("max_guests must be 1-255", config(1, 256, 0, 0, 0, 0)),
        Arguments.of("ring_size must be power of 2", config(1, 1, 0, 0, 0, 0)),
        Arguments.of("ring_size must be power of 2", config(1, 1, 3, 0, 0, 0)),
        Arguments.of("ring_size must be power of 2", config(1, 1, Integer.MIN_VALUE, 0, 0, 0)),
        Arguments.of("ring_size must be at least 2", config(1, 1, 1, 0, 0, 0)),
        Arguments.of("slot_size must be at least 8", config(1, 1, 2, 0, 0, 0)),
        Arguments.of("slot_size must be at least 8", config(1, 1, 2, 7, 0, 0)),
        Arguments.of("slot_size must be a multiple of 8", config(100, 1, 2, 12, 0, 0)),
        Arguments.of("slots_per_guest must be > 0", config(100, 1, 2, 16, 0, 0)),
        Arguments.of("max_channels must be > 0", config(100, 1, 2, 16, 1, 0)),
        Arguments.of("max_payload_size must be <= slot_size - 4", config(13, 1, 2, 16, 1, 1)));
  }

  private static int[] config(
      int payload, int guests, int ring, int slotSize, int slots, int channels) {
    return new int[] {payload, guests, ring, slotSize, slots, channels};
  }

  // r[verify shm.handshake]
  // r[verify shm.topology.max-guests]
  @ParameterizedTest
  @MethodSource("refusals")
  void theFirstFailingTestDecidesTheMessage(String message, int[] values) {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new SegmentConfig(
                    values[0], 0, values[1], values[2], values[3], values[4], values[5], 0))
        .withMessage(message);
  }

  @Test
  void theLimitsThemselvesAreAccepted() {
    assertThat(new SegmentConfig(4, 0xffff_ffffL, 255, 2, 8, 1, 1, 0).maxGuests()).isEqualTo(255);
    assertThat(SegmentConfig.DEFAULT)
        .isEqualTo(new SegmentConfig(65532, 262144, 16, 256, 65536, 16, 256, 0));
  }

  @Test
  void aSegmentLargerThanAnyMemoryIsRefusedAndNotWrapped() {
    var huge =
        new SegmentConfig(1, 0, 255, 1 << 30, 0x7fff_fff8, Integer.MAX_VALUE, Integer.MAX_VALUE, 0);
    for (Placement placement : Placement.values()) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new SegmentLayout(placement, huge))
          .withMessageContaining("larger than any memory");
    }
  }
}
