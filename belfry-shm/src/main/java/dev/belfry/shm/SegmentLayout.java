package dev.belfry.shm;

import static java.lang.Math.addExact;
import static java.lang.Math.multiplyExact;

/**
 * The layout of a segment, as offsets from its start. All offsets are computed here and nowhere
 * else.
 *
 * <pre>
 * header | peer table | host pool | pool 1 | ... | pool G | pad to 64 | area 1 | ... | area G
 *                                                                       |
 *                               guest-&gt;host ring | host-&gt;guest ring | channel table, pad to 64
 *                               padded: | guest-&gt;host pockets | host-&gt;guest pockets
 *
 * peer entry, format 1 (64 bytes):
 *    0 state | 4 epoch | 8 g2h head | 12 g2h tail | 16 h2g head | 20 h2g tail | 24 heartbeat
 *   32 ring offset | 40 pool offset | 48 channel table offset | 56 reserved
 *
 * peer entry, padded (12 blocks of 128 bytes, because processors prefetch lines in pairs):
 *    0 state, epoch | 1 g2h head | 2 g2h tail | 3 h2g head | 4 h2g tail | 5 heartbeat
 *    6 the three offsets | 7 sleeps for g2h data | 8 for g2h space | 9 for h2g data
 *   10 for h2g space | 11 the guest's robust mutex
 *
 * ring:    descriptors of 64 bytes, padded: 128
 * pool:    bitmap words, 1 = free | pad to 64 | slots, each a generation and a payload
 *          padded: bitmap, pad to 128 | the same for slots that the owner keeps | slots
 * channel: 0 state | granted_total at 4 (format 1: 16 bytes) or 64 (padded: 128 bytes)
 * </pre>
 *
 * All sizes are exact: a configuration whose segment would not fit a {@code long} is refused.
 */
public final class SegmentLayout {
  static final int HEADER_BYTES = 128;
  static final int LINE_BYTES = 64;

  private static final int V1_DESCRIPTOR_BYTES = 64;
  private static final int V1_ENTRY_BYTES = 64;
  private static final int V1_CHANNEL_BYTES = 16;
  private static final int BLOCK_BYTES = 128;
  private static final int PADDED_BLOCKS = 12;
  private static final int PADDED_DESCRIPTOR_BYTES = 128;
  private static final int PADDED_CHANNEL_BYTES = 128;

  /** The size of a pocket is that of a slot divided by this. */
  private static final int POCKETS_PER_SLOT = 64;

  /** Longer rings do not get more pockets, which would then take most of the memory. */
  private static final int MAX_POCKETS = 256;

  /**
   * The place of a word in a peer entry: its offset in format 1, its block in the padded placement.
   */
  private enum Word {
    STATE(0, 0),
    G2H_HEAD(8, 1),
    G2H_TAIL(12, 2),
    H2G_HEAD(16, 3),
    H2G_TAIL(20, 4),
    HEARTBEAT(24, 5),
    OFFSETS(32, 6);

    final int v1;
    final int block;

    Word(int v1, int block) {
      this.v1 = v1;
      this.block = block;
    }
  }

  private static final int FIRST_SLEEP_BLOCK = 7;
  private static final int MUTEX_BLOCK = 11;

  private final Placement placement;
  private final SegmentConfig config;
  private final boolean padded;
  private final int entryBytes;
  private final int descriptorBytes;
  private final int channelBytes;
  private final long slotRegion;
  private final int bitmapWords;
  private final long keptInPool;
  private final long poolHeaderBytes;
  private final long slotStride;
  private final long poolBytes;
  private final long guestAreas;
  private final long channelTableInArea;
  private final int pocketBytes;
  private final int pocketCount;
  private final long pocketsInArea;
  private final long areaBytes;
  private final long totalBytes;

  /**
   * Computes the offsets.
   *
   * @throws IllegalArgumentException if the segment would be too large
   */
  public SegmentLayout(Placement placement, SegmentConfig config) {
    this.placement = placement;
    this.config = config;
    this.padded = placement == Placement.PADDED;
    this.entryBytes = padded ? PADDED_BLOCKS * BLOCK_BYTES : V1_ENTRY_BYTES;
    this.descriptorBytes = padded ? PADDED_DESCRIPTOR_BYTES : V1_DESCRIPTOR_BYTES;
    this.channelBytes = padded ? PADDED_CHANNEL_BYTES : V1_CHANNEL_BYTES;
    int guests = config.maxGuests();
    // r[impl shm.segment.pool-size]
    // r[impl shm.segment.guest-rings]
    try {
      this.slotRegion = align(HEADER_BYTES + (long) entryBytes * guests);
      this.bitmapWords = (int) ((config.slotsPerGuest() + 63L) / 64);
      long bitmapBytes = align(8L * bitmapWords);
      this.keptInPool = padded ? bitmapBytes : 0;
      this.poolHeaderBytes = bitmapBytes + keptInPool;
      // An odd number of blocks, so that slots do not all compete for the same cache sets.
      this.slotStride = padded ? align(config.slotSize()) | BLOCK_BYTES : config.slotSize();
      this.poolBytes = addExact(poolHeaderBytes, multiplyExact(config.slotsPerGuest(), slotStride));
      this.guestAreas = align(addExact(slotRegion, multiplyExact(guests + 1, poolBytes)));
      this.channelTableInArea = align(2L * config.ringSize() * descriptorBytes);
      this.pocketsInArea =
          addExact(channelTableInArea, align((long) config.maxChannels() * channelBytes));
      this.pocketBytes = padded ? pocketBytes(config.slotSize()) : 0;
      this.pocketCount = pocketBytes > 0 ? Math.min(config.ringSize(), MAX_POCKETS) : 0;
      this.areaBytes = addExact(pocketsInArea, 2L * pocketCount * pocketBytes);
      this.totalBytes = addExact(guestAreas, multiplyExact(guests, areaBytes));
    } catch (ArithmeticException overflow) {
      throw new IllegalArgumentException("the segment would be larger than any memory", overflow);
    }
  }

  /** An odd number of blocks, as for slots; 0 if a descriptor holds as much. */
  private int pocketBytes(int slotSize) {
    int bytes = slotSize / POCKETS_PER_SLOT;
    return bytes > MessageDescriptor.MAX_INLINE_BYTES ? (int) align(bytes) | BLOCK_BYTES : 0;
  }

  private long align(long bytes) {
    int unit = padded ? BLOCK_BYTES : LINE_BYTES;
    return addExact(bytes, unit - 1) & -unit;
  }

  /** The placement. */
  public Placement placement() {
    return placement;
  }

  /** The configuration that the offsets were computed from. */
  public SegmentConfig config() {
    return config;
  }

  /** The exact length of the segment. */
  public long totalBytes() {
    return totalBytes;
  }

  // The peer table.

  long peerTable() {
    return HEADER_BYTES;
  }

  /** The entry of a peer. */
  // r[impl shm.topology.peer-id]
  // r[impl shm.segment.peer-table]
  public long entry(int peer) {
    return peerTable() + (long) entryBytes * (checkPeer(peer) - 1);
  }

  /** The size of an entry. */
  int entryBytes() {
    return entryBytes;
  }

  int checkPeer(int peer) {
    if (peer < 1 || peer > config.maxGuests()) {
      throw new IllegalArgumentException(
          "peer ids of this segment are 1 to %d, not %d".formatted(config.maxGuests(), peer));
    }
    return peer;
  }

  private long word(int peer, Word word) {
    return entry(peer) + (padded ? (long) word.block * BLOCK_BYTES : word.v1);
  }

  /** The state and the epoch behind it, together eight aligned bytes. */
  long stateAndEpoch(int peer) {
    return word(peer, Word.STATE);
  }

  long head(int peer, Direction direction) {
    return word(peer, direction == Direction.TO_HOST ? Word.G2H_HEAD : Word.H2G_HEAD);
  }

  long tail(int peer, Direction direction) {
    return word(peer, direction == Direction.TO_HOST ? Word.G2H_TAIL : Word.H2G_TAIL);
  }

  long heartbeat(int peer) {
    return word(peer, Word.HEARTBEAT);
  }

  /** The three informational offsets, eight bytes each: ring, pool, channel table. */
  long offsetFields(int peer) {
    return word(peer, Word.OFFSETS);
  }

  /** Whether sleepers have flags, descriptors have lap marks, and guests have a robust mutex. */
  boolean isPadded() {
    return padded;
  }

  /** The flag of a ring's receiver. Padded placement only. */
  long dataSleeper(int peer, Direction direction) {
    return sleeper(peer, direction == Direction.TO_HOST ? 0 : 2);
  }

  /** The flag of a ring's sender. Padded placement only. */
  long spaceSleeper(int peer, Direction direction) {
    return sleeper(peer, direction == Direction.TO_HOST ? 1 : 3);
  }

  private long sleeper(int peer, int which) {
    return paddedBlock(peer, FIRST_SLEEP_BLOCK + which);
  }

  /** The guest's robust mutex, in a block of 128 bytes. Padded placement only. */
  long robustMutex(int peer) {
    return paddedBlock(peer, MUTEX_BLOCK);
  }

  private long paddedBlock(int peer, int block) {
    if (!padded) {
      throw new IllegalStateException("format 1 has no room for it");
    }
    return entry(peer) + (long) block * BLOCK_BYTES;
  }

  // The pools: the host's is number 0, a guest's has its peer id.

  /** The start of the first pool. */
  public long slotRegion() {
    return slotRegion;
  }

  /** The size of each pool. */
  public long poolBytes() {
    return poolBytes;
  }

  /** The pool of an owner: 0 for the host, else a peer id. */
  // r[impl shm.segment.host-slots]
  // r[impl shm.segment.guest-slot-offset]
  public long pool(int owner) {
    return slotRegion + (owner == 0 ? 0 : checkPeer(owner) * poolBytes);
  }

  int bitmapWords() {
    return bitmapWords;
  }

  /** The value of a bitmap word when all its slots are free. */
  // r[impl shm.slot.pool-layout]
  long allFree(int word) {
    int slots = config.slotsPerGuest() - 64 * word;
    return slots >= 64 ? -1L : (1L << slots) - 1;
  }

  /** The bitmap of slots that a pool's owner keeps for later. Padded placement only. */
  long keptSlots(int owner) {
    return pool(owner) + keptInPool;
  }

  // r[impl shm.slot.pool-header-size]
  long slot(int owner, int index) {
    return pool(owner) + poolHeaderBytes + index * slotStride;
  }

  long slotStride() {
    return slotStride;
  }

  // The areas of the guests.

  /** The start of the first guest's area. */
  public long guestAreas() {
    return guestAreas;
  }

  /** The size of each guest's area. */
  public long areaBytes() {
    return areaBytes;
  }

  private long area(int peer) {
    return guestAreas + (checkPeer(peer) - 1) * areaBytes;
  }

  /** The first descriptor of a ring. */
  // r[impl shm.ring.layout]
  // r[impl shm.ring.alignment]
  public long ring(int peer, Direction direction) {
    return area(peer) + (direction == Direction.TO_HOST ? 0 : ringBytes());
  }

  long ringBytes() {
    return (long) config.ringSize() * descriptorBytes;
  }

  int descriptorBytes() {
    return descriptorBytes;
  }

  /** The longest inline payload: always at least 32 bytes, more only if messages may be longer. */
  int inlineBytes() {
    int allowed = Math.max(MessageDescriptor.INLINE_BYTES, config.maxPayloadSize());
    return Math.min(allowed, descriptorBytes - MessageDescriptor.FIELD_BYTES);
  }

  /** The first pocket of a ring. Pockets are used in turn, one for each descriptor. */
  long pockets(int peer, Direction direction) {
    long ofRing = (long) pocketCount * pocketBytes;
    return area(peer) + pocketsInArea + (direction == Direction.TO_HOST ? 0 : ofRing);
  }

  /** The number of pockets of a ring: 0, or a power of two up to the number of its descriptors. */
  int pocketCount() {
    return pocketCount;
  }

  /** The longest payload that travels in a pocket; 0 if there are none. */
  int mostInPocket() {
    return Math.min(pocketBytes, config.maxPayloadSize());
  }

  /** The size of a pocket; 0 if there are none. */
  int pocketBytes() {
    return pocketBytes;
  }

  /** The start of a guest's channel table. */
  // r[impl shm.flow.channel-table-location]
  public long channelTable(int peer) {
    return area(peer) + channelTableInArea;
  }

  long channelTableBytes() {
    return (long) config.maxChannels() * channelBytes;
  }

  long channelState(int peer, int channel) {
    return channelTable(peer) + (long) channel * channelBytes;
  }

  long channelGranted(int peer, int channel) {
    return channelState(peer, channel) + (padded ? LINE_BYTES : 4);
  }
}
