package dev.belfry.shm;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The configuration of a segment. The host alone decides on it; a guest that cannot accept it does
 * not attach.
 *
 * @param maxPayloadSize the maximum number of bytes in a message
 * @param initialCredit the number of data bytes that may be in flight on a new channel
 * @param maxGuests the maximum number of guests at a time
 * @param ringSize the number of descriptors in a ring, one of which is never used
 * @param slotSize the number of bytes in a slot, four of which hold its generation
 * @param slotsPerGuest the number of slots in each pool, including the host's
 * @param maxChannels the number of entries in a channel table, the first of which is never used
 * @param heartbeatIntervalNanos how often a guest writes a heartbeat; 0 for never
 */
public record SegmentConfig(
    int maxPayloadSize,
    long initialCredit,
    int maxGuests,
    int ringSize,
    int slotSize,
    int slotsPerGuest,
    int maxChannels,
    long heartbeatIntervalNanos) {

  /** The maximum number of guests that any segment can have at a time. */
  // r[impl shm.topology.max-guests]
  public static final int MAX_GUESTS = 255;

  /** The size of the generation, which precedes a slot's payload. */
  static final int GENERATION_BYTES = 4;

  /** The defaults of the format. */
  public static final SegmentConfig DEFAULT =
      new SegmentConfig(65532, 262144, 16, 256, 65536, 16, 256, 0);

  private static final int SMALLEST_SLOT = 8;
  private static final long MAX_U32 = 0xffff_ffffL;

  /**
   * Validates the values.
   *
   * @throws IllegalArgumentException with the message of the first check that fails
   */
  // r[impl shm.handshake]
  public SegmentConfig {
    check(maxPayloadSize > 0, "max_payload_size must be > 0");
    check(maxGuests >= 1 && maxGuests <= MAX_GUESTS, "max_guests must be 1-255");
    check(Integer.bitCount(ringSize) == 1 && ringSize > 0, "ring_size must be power of 2");
    check(ringSize >= 2, "ring_size must be at least 2");
    check(slotSize >= SMALLEST_SLOT, "slot_size must be at least 8");
    check(slotSize % 8 == 0, "slot_size must be a multiple of 8");
    check(slotsPerGuest > 0, "slots_per_guest must be > 0");
    check(maxChannels > 0, "max_channels must be > 0");
    check(
        maxPayloadSize <= slotSize - GENERATION_BYTES, "max_payload_size must be <= slot_size - 4");
    check(initialCredit >= 0 && initialCredit <= MAX_U32, "initial_credit must fit 32 bits");
    check(heartbeatIntervalNanos >= 0, "heartbeat_interval must not be negative");
  }

  /** A copy with rings of {@code size} descriptors, a power of two. */
  public SegmentConfig withRingSize(int size) {
    return new SegmentConfig(
        maxPayloadSize,
        initialCredit,
        maxGuests,
        size,
        slotSize,
        slotsPerGuest,
        maxChannels,
        heartbeatIntervalNanos);
  }

  /**
   * A copy with pools of {@code count} slots of {@code size} bytes; messages may be as long as
   * fits.
   */
  public SegmentConfig withSlots(int count, int size) {
    return new SegmentConfig(
        size - GENERATION_BYTES,
        initialCredit,
        maxGuests,
        ringSize,
        size,
        count,
        maxChannels,
        heartbeatIntervalNanos);
  }

  /** A copy for at most {@code guests} guests. */
  public SegmentConfig withMaxGuests(int guests) {
    return new SegmentConfig(
        maxPayloadSize,
        initialCredit,
        guests,
        ringSize,
        slotSize,
        slotsPerGuest,
        maxChannels,
        heartbeatIntervalNanos);
  }

  /** A copy with channel tables of {@code count} entries and an initial credit for each channel. */
  public SegmentConfig withChannels(int count, long credit) {
    return new SegmentConfig(
        maxPayloadSize,
        credit,
        maxGuests,
        ringSize,
        slotSize,
        slotsPerGuest,
        count,
        heartbeatIntervalNanos);
  }

  /** A copy with a heartbeat interval; zero for no heartbeat. */
  public SegmentConfig withHeartbeat(Duration interval) {
    return new SegmentConfig(
        maxPayloadSize,
        initialCredit,
        maxGuests,
        ringSize,
        slotSize,
        slotsPerGuest,
        maxChannels,
        TimeUnit.NANOSECONDS.convert(interval)); // saturates
  }

  private static void check(boolean good, String message) {
    if (!good) {
      throw new IllegalArgumentException(message);
    }
  }
}
