package dev.belfry.shm;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The host's configuration of a segment. The host alone decides on it: a guest that cannot live
 * with it stays away.
 *
 * @param maxPayloadSize the most bytes that a message can have
 * @param initialCredit the bytes of data that may be under way on a new channel
 * @param maxGuests how many guests there can be at once
 * @param ringSize the descriptors of a ring, of which one is never used
 * @param slotSize the bytes of a slot, four of which are its generation
 * @param slotsPerGuest the slots of each pool, the host's included
 * @param maxChannels the entries of a channel table, of which the first is never used
 * @param heartbeatIntervalNanos how often a guest shows that it lives; 0 for never
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

  /** How many guests any segment can have at once. */
  // r[impl shm.topology.max-guests]
  public static final int MAX_GUESTS = 255;

  /** The bytes in front of a slot's payload: its generation. */
  static final int GENERATION_BYTES = 4;

  /** What the format has if nobody says otherwise. */
  public static final SegmentConfig DEFAULT =
      new SegmentConfig(65532, 262144, 16, 256, 65536, 16, 256, 0);

  private static final int SMALLEST_SLOT = 8;
  private static final long MAX_U32 = 0xffff_ffffL;

  /**
   * Checks the values.
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

  /** The same with rings of so many descriptors, a power of two. */
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

  /** The same with pools of so many slots of a size; messages may be as long as fits. */
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

  /** The same for so many guests. */
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

  /** The same with a channel table of so many entries and that window on each channel. */
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

  /** The same with guests that show at this interval that they live; zero for never. */
  public SegmentConfig withHeartbeat(Duration interval) {
    return new SegmentConfig(
        maxPayloadSize,
        initialCredit,
        maxGuests,
        ringSize,
        slotSize,
        slotsPerGuest,
        maxChannels,
        TimeUnit.NANOSECONDS.convert(interval)); // the longest there is, if it is longer
  }

  private static void check(boolean good, String message) {
    if (!good) {
      throw new IllegalArgumentException(message);
    }
  }
}
