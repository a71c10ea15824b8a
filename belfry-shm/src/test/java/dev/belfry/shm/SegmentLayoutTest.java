package dev.belfry.shm;

import static dev.belfry.shm.Direction.TO_GUEST;
import static dev.belfry.shm.Direction.TO_HOST;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The layout of a segment. */
final class SegmentLayoutTest {
  private static final SegmentConfig SMALL = new SegmentConfig(60, 262144, 2, 8, 64, 70, 5, 0);

  // r[verify shm.segment.header]
  // r[verify shm.segment.peer-table]
  // r[verify shm.segment.guest-rings]
  // r[verify shm.ring.layout]
  // r[verify shm.segment.pool-size]
  // r[verify shm.segment.guest-slot-offset]
  // r[verify shm.flow.channel-table-location]
  @Test
  void theDefaultConfigurationHasTheNumbersOfTheFormat() {
    var layout = new SegmentLayout(Placement.V1, SegmentConfig.DEFAULT);

    assertThat(layout.peerTable()).isEqualTo(128);
    assertThat(layout.slotRegion()).isEqualTo(1152);
    assertThat(layout.poolBytes()).isEqualTo(1048640);
    assertThat(layout.guestAreas()).isEqualTo(17828032);
    assertThat(layout.areaBytes()).isEqualTo(36864);
    assertThat(layout.totalBytes()).isEqualTo(18417856);
    assertThat(layout.pool(0)).isEqualTo(1152);
    assertPeer(layout, 1, 128, 17828032, 17844416, 1049792, 17860800);
    assertPeer(layout, 16, 1088, 18380992, 18397376, 16779392, 18413760);
  }

  @Test
  void aSmallConfigurationHasTheNumbersOfTheFormat() {
    var layout = new SegmentLayout(Placement.V1, SMALL);

    assertThat(layout.slotRegion()).isEqualTo(256);
    assertThat(layout.poolBytes()).isEqualTo(4544);
    assertThat(layout.guestAreas()).isEqualTo(13888);
    assertThat(layout.areaBytes()).isEqualTo(1152);
    assertThat(layout.totalBytes()).isEqualTo(16192);
    assertPeer(layout, 2, 192, 15040, 15552, 9344, 16064);
  }

  private static void assertPeer(
      SegmentLayout layout,
      int peer,
      long entry,
      long toHost,
      long toGuest,
      long pool,
      long table) {
    assertThat(layout.entry(peer)).isEqualTo(entry);
    assertThat(layout.ring(peer, TO_HOST)).isEqualTo(toHost);
    assertThat(layout.ring(peer, TO_GUEST)).isEqualTo(toGuest);
    assertThat(layout.pool(peer)).isEqualTo(pool);
    assertThat(layout.channelTable(peer)).isEqualTo(table);
  }

  // r[verify shm.slot.pool-layout]
  // r[verify shm.segment.pool-size]
  @Test
  void theBitmapIsPaddedToALineAndItsExcessBitsAreNotFree() {
    var layout = new SegmentLayout(Placement.V1, SMALL);
    assertThat(layout.bitmapWords()).isEqualTo(2);
    assertThat(layout.allFree(0)).isEqualTo(-1L);
    assertThat(layout.allFree(1)).isEqualTo(0x3f);
    assertThat(poolHeader(512)).isEqualTo(64);
    assertThat(poolHeader(513)).isEqualTo(128);
  }

  private static long poolHeader(int slots) {
    var layout = new SegmentLayout(Placement.V1, SegmentConfig.DEFAULT.withSlots(slots, 64));
    return layout.slot(0, 0) - layout.pool(0);
  }

  // r[verify shm.topology.peer-id]
  @Test
  void peerIdsAreOneToTheNumberOfGuests() {
    var layout = new SegmentLayout(Placement.V1, SegmentConfig.DEFAULT.withMaxGuests(255));
    assertThat(layout.entry(1)).isEqualTo(128);
    assertThat(layout.entry(255)).isEqualTo(128 + 64 * 254);
    for (int wrong : new int[] {0, 256, -1}) {
      assertThatIllegalArgumentException().isThrownBy(() -> layout.entry(wrong));
    }
    var few = new SegmentLayout(Placement.V1, SMALL);
    assertThatIllegalArgumentException().isThrownBy(() -> few.entry(3));
  }

  private record Region(String name, long start, long bytes) {}

  // r[verify shm.segment.guest-rings]
  // r[verify shm.ring.alignment]
  @ParameterizedTest
  @EnumSource
  void noTwoRegionsOverlapAndTheLastEndsWithTheSegment(Placement placement) {
    var random = new Random(5);
    for (int i = 0; i < 500; i++) {
      int slotSize = 8 * (1 + random.nextInt(20));
      var config =
          new SegmentConfig(
              slotSize - 4,
              100,
              1 + random.nextInt(20),
              2 << random.nextInt(6),
              slotSize,
              1 + random.nextInt(200),
              1 + random.nextInt(30),
              0);
      var layout = new SegmentLayout(placement, config);
      List<Region> regions = regions(layout);
      long end = 0;
      for (Region region : regions) {
        assertThat(region.start()).as("%s of %s", region, config).isGreaterThanOrEqualTo(end);
        assertThat(region.start() % (region.name().startsWith("pool") ? 8 : 64)).isZero();
        end = region.start() + region.bytes();
      }
      assertThat(layout.totalBytes() - end)
          .as("%s", config)
          .isBetween(0L, layout.isPadded() ? 127L : 63L);
    }
  }

  private static List<Region> regions(SegmentLayout layout) {
    var regions = new ArrayList<Region>();
    regions.add(new Region("header", 0, 128));
    SegmentConfig config = layout.config();
    long entryBytes = (layout.isPadded() ? 12 * 128 : 64);
    for (int owner = 0; owner <= config.maxGuests(); owner++) {
      regions.add(new Region("pool " + owner, layout.pool(owner), layout.poolBytes()));
    }
    for (int peer = 1; peer <= config.maxGuests(); peer++) {
      regions.add(new Region("entry", layout.entry(peer), entryBytes));
      regions.add(new Region("ring", layout.ring(peer, TO_HOST), layout.ringBytes()));
      regions.add(new Region("ring", layout.ring(peer, TO_GUEST), layout.ringBytes()));
      regions.add(new Region("channels", layout.channelTable(peer), layout.channelTableBytes()));
    }
    regions.sort(Comparator.comparingLong(Region::start));
    return regions;
  }

  /** The writer of a word; a word that both sides write by compare-and-set has its own line. */
  private enum Writer {
    HOST,
    GUEST,
    BOTH
  }

  // r[verify shm.placement.padded]
  @Test
  void inThePaddedPlacementNoLineIsWrittenByTwoProcesses() {
    var layout = new SegmentLayout(Placement.PADDED, SMALL);
    Map<Long, Writer> lines = new HashMap<>();
    put(lines, layout.stateAndEpoch(1), Writer.BOTH);
    put(lines, layout.head(1, TO_HOST), Writer.GUEST);
    put(lines, layout.tail(1, TO_HOST), Writer.HOST);
    put(lines, layout.head(1, TO_GUEST), Writer.HOST);
    put(lines, layout.tail(1, TO_GUEST), Writer.GUEST);
    put(lines, layout.heartbeat(1), Writer.GUEST);
    put(lines, layout.offsetFields(1), Writer.HOST);
    for (Direction direction : Direction.values()) {
      put(lines, layout.dataSleeper(1, direction), Writer.BOTH);
      put(lines, layout.spaceSleeper(1, direction), Writer.BOTH);
    }
    put(lines, layout.robustMutex(1), Writer.BOTH);
    for (int owner = 0; owner <= 2; owner++) {
      put(lines, layout.pool(owner), Writer.BOTH);
      put(lines, layout.keptSlots(owner), owner == 0 ? Writer.HOST : Writer.GUEST);
      put(lines, layout.slot(owner, 0), owner == 0 ? Writer.HOST : Writer.GUEST);
      put(lines, layout.slot(owner, 69) + 60, owner == 0 ? Writer.HOST : Writer.GUEST);
    }
    put(lines, layout.channelState(1, 1), Writer.BOTH);
    put(lines, layout.channelGranted(1, 1), Writer.HOST);
    put(lines, layout.channelState(1, 2), Writer.BOTH);
    put(lines, layout.channelGranted(1, 2), Writer.GUEST);
  }

  // r[verify shm.placement.padded]
  @ParameterizedTest
  @ValueSource(ints = {64, 128, 192, 1024, 1032, 65_536})
  void inThePaddedPlacementSlotsAreAnOddNumberOfBlocksApart(int slotSize) {
    var layout = new SegmentLayout(Placement.PADDED, SMALL.withSlots(4, slotSize));
    long apart = layout.slot(0, 1) - layout.slot(0, 0);
    assertThat(apart % 256).isEqualTo(128);
    assertThat(apart).isBetween((long) slotSize, slotSize + 255L);
  }

  private static void put(Map<Long, Writer> lines, long offset, Writer writer) {
    Writer before = lines.putIfAbsent(offset / 64, writer);
    boolean shared = before != null && (before != writer || writer == Writer.BOTH);
    assertThat(shared)
        .as("the line at %d is written by %s and %s", offset, before, writer)
        .isFalse();
  }
}
