package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The entry of a guest that is gone is recycled for the next, which may attach the moment it is
 * free.
 */
@Timeout(180)
final class RecoveryTest {
  /** Large tables, which take a while to clear. */
  private static final SegmentConfig LARGE = new SegmentConfig(60, 100, 1, 256, 64, 1024, 512, 0);

  private static final int RECOVERIES = 1000;

  @TempDir private Path directory;

  // r[verify shm.crash.recovery]
  @ParameterizedTest
  @EnumSource
  void theEntryBecomesEmptyLastOfAll(Placement placement) throws Exception {
    try (Sides sides = Sides.traced(placement, CONFIG.withChannels(8, 100))) {
      for (int i = 0; i < 3; i++) {
        send(sides.toHost, i, payload(100, i));
        send(sides.toGuest, i, payload(100, i));
      }
      Objects.requireNonNull(sides.toHost.channels().open());
      assertThat(sides.host.peers().leave(1, 1)).isTrue();
      SegmentLayout layout = sides.host.layout();
      TracedMemory host = TracedMemory.of(sides.host);
      host.name("state", layout.stateAndEpoch(1), Long.BYTES);
      var atEmpty = new ArrayList<byte[]>();
      host.before("setLongRelease state", () -> atEmpty.add(sides.bytes().toArray(JAVA_BYTE)));
      sides.host.peers().recover(1);

      assertThat(host.trace()).contains("setLongRelease state").doesNotContain("setLong state");
      assertThat(atEmpty).hasSize(1);
      byte[] before = atEmpty.getFirst();
      byte[] after = sides.bytes().toArray(JAVA_BYTE);
      List<Integer> changed =
          IntStream.range(0, after.length).filter(at -> before[at] != after[at]).boxed().toList();
      assertThat(changed).containsExactly((int) layout.stateAndEpoch(1));
      assertThat(sides.host.peers().state(1)).isEqualTo(PeerState.EMPTY);
      assertThat(sides.freeSlots(0)).isEqualTo(4);
      assertThat(sides.freeSlots(1)).isEqualTo(4);
    }
  }

  // r[verify shm.crash.recovery]
  @ParameterizedTest
  @EnumSource
  void whoAttachesTheMomentItIsPossibleKeepsWhatItWrites(Placement placement) throws Exception {
    Path path = directory.resolve("hub");
    try (Segment host = Segment.create(Sys.forAnyThread(), path, placement, LARGE);
        TestProcess visitor =
            TestProcess.java(EntryVisitor.class, path.toString(), "" + RECOVERIES)) {
      for (int i = 0; i < RECOVERIES; i++) {
        long deadline = System.nanoTime() + TestProcess.PATIENCE.toNanos();
        while (host.peers().state(1) != PeerState.GOODBYE) {
          assertThat(System.nanoTime() - deadline).as("visit %d", i).isNegative();
          Thread.onSpinWait();
        }
        host.peers().recover(1);
      }
      assertThat(visitor.rest()).containsExactly("found nothing, lost nothing");
    }
  }
}
