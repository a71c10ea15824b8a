package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.payload;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is written, and in which order, when a channel is opened. */
final class ChannelOpeningTest {

  private static TracedMemory named(Sides sides, int id) {
    SegmentLayout layout = sides.guest.layout();
    return TracedMemory.of(sides.guest)
        .name("state", layout.channelState(1, id), Integer.BYTES)
        .name("granted", layout.channelGranted(1, id), Integer.BYTES)
        .name("head", layout.head(1, Direction.TO_HOST), Integer.BYTES);
  }

  // r[verify shm.flow.channel-activate]
  @ParameterizedTest
  @EnumSource
  void theCreditIsThereBeforeTheChannelAndThatBeforeItsFirstMessage(Placement placement)
      throws IOException {
    try (Sides sides = Sides.traced(placement, CONFIG)) {
      TracedMemory memory = named(sides, 1);
      Channel out = Objects.requireNonNull(sides.toHost.channels().open());
      assertThat(memory.trace())
          .containsExactly(
              "getIntAcquire state", "setIntRelease granted", "compareAndSetInt state");
      assertThat(out.send(payload(9, 1), 0, 9)).isEqualTo(SendResult.SENT);
      assertThat(memory.trace())
          .filteredOn(access -> access.startsWith("set") || access.startsWith("compare"))
          .containsExactly("setIntRelease head");
    }
  }

  // r[verify shm.flow.channel-activate]
  @ParameterizedTest
  @EnumSource
  void ofAnEntryThatIsNotFreeNothingIsWritten(Placement placement) throws IOException {
    try (Sides sides = Sides.traced(placement, CONFIG)) {
      for (int state : new int[] {Channels.ACTIVE, Channels.CLOSED}) {
        sides.bytes().set(JAVA_INT, sides.host.layout().channelState(1, 1), state);
        TracedMemory memory = named(sides, 1);
        memory.trace();
        Channel other = Objects.requireNonNull(sides.toHost.channels().open());
        assertThat(other.id()).isNotEqualTo(1);
        assertThat(memory.trace()).containsExactly("getIntAcquire state");
      }
    }
  }
}
