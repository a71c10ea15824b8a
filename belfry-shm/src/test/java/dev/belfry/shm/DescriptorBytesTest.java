package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a descriptor holds besides its message. */
final class DescriptorBytesTest {
  private static final int INLINE = 32;

  /** And not what an earlier lap of the ring has left there. */
  // r[verify shm.desc.size]
  @ParameterizedTest
  @EnumSource
  void behindAPayloadStandZeros(Placement placement) throws IOException {
    var message = new Message();
    try (Sides sides = Sides.of(placement, CONFIG.withRingSize(2))) {
      SegmentLayout layout = sides.host.layout();
      int[] lengths = {32, 32, 1000, 5, 32, 32, 0, 1000};
      for (int i = 0; i < lengths.length; i++) {
        assertThat(send(sides.toHost, i, payload(lengths[i], i))).isEqualTo(SendResult.SENT);
        long descriptor =
            layout.ring(1, Direction.TO_HOST) + (long) (i % 2) * layout.descriptorBytes();
        byte[] inline = lengths[i] > INLINE ? new byte[0] : payload(lengths[i], i);
        assertThat(sides.bytes().asSlice(descriptor + INLINE, INLINE).toArray(JAVA_BYTE))
            .as("message %d with %d bytes", i, lengths[i])
            .isEqualTo(Arrays.copyOf(inline, INLINE));
        assertThat(sides.toGuest.inbox().receive(message)).isTrue();
      }
    }
  }
}
