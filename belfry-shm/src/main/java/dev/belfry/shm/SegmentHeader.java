package dev.belfry.shm;

import static dev.belfry.shm.SegmentException.Reason.HOST_GOODBYE;
import static dev.belfry.shm.SegmentException.Reason.INCONSISTENT;
import static dev.belfry.shm.SegmentException.Reason.INVALID_CONFIG;
import static dev.belfry.shm.SegmentException.Reason.INVALID_MAGIC;
import static dev.belfry.shm.SegmentException.Reason.NOT_A_SEGMENT;
import static dev.belfry.shm.SegmentException.Reason.UNSUPPORTED_VERSION;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.belfry.shm.SegmentException.Reason;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The first 128 bytes of a segment, written only by the host.
 *
 * <pre>
 *   0 magic, 8 bytes      32 max_guests          56 slot_size        72 heartbeat_interval, 8 bytes
 *   8 version             36 ring_size           60 slots_per_guest  80 features (padded only)
 *  12 header_size         40 peer_table_offset   64 max_channels     84 reserved, 0
 *  16 total_size, 8 bytes 48 slot_region_offset  68 host_goodbye
 *  24 max_payload_size, 28 initial_credit
 * </pre>
 */
// r[impl shm.segment.header]
// r[impl shm.segment.header-size]
final class SegmentHeader {
  /** {@code RAPAHUB} and 1. */
  // r[impl shm.segment.magic]
  static final long MAGIC_NUMBER = 0x0142_5548_4150_4152L;

  static final long GOODBYE = 68;

  private static final long MAGIC = 0;
  private static final long VERSION = 8;
  private static final long HEADER_SIZE = 12;
  private static final long TOTAL_SIZE = 16;
  private static final long MAX_PAYLOAD_SIZE = 24;
  private static final long INITIAL_CREDIT = 28;
  private static final long MAX_GUESTS = 32;
  private static final long RING_SIZE = 36;
  private static final long PEER_TABLE_OFFSET = 40;
  private static final long SLOT_REGION_OFFSET = 48;
  private static final long SLOT_SIZE = 56;
  private static final long SLOTS_PER_GUEST = 60;
  private static final long MAX_CHANNELS = 64;
  private static final long HEARTBEAT_INTERVAL = 72;
  private static final long FEATURES = 80;

  private static final VarHandle LONG = JAVA_LONG.varHandle();
  private static final VarHandle INT = JAVA_INT.varHandle();

  private SegmentHeader() {}

  /** Writes everything but the magic. */
  static void write(MemorySegment segment, SegmentLayout layout) {
    SegmentConfig config = layout.config();
    segment.set(JAVA_INT, VERSION, layout.placement().version());
    segment.set(JAVA_INT, HEADER_SIZE, SegmentLayout.HEADER_BYTES);
    segment.set(JAVA_LONG, TOTAL_SIZE, layout.totalBytes());
    segment.set(JAVA_INT, MAX_PAYLOAD_SIZE, config.maxPayloadSize());
    segment.set(JAVA_INT, INITIAL_CREDIT, (int) config.initialCredit());
    segment.set(JAVA_INT, MAX_GUESTS, config.maxGuests());
    segment.set(JAVA_INT, RING_SIZE, config.ringSize());
    segment.set(JAVA_LONG, PEER_TABLE_OFFSET, layout.peerTable());
    segment.set(JAVA_LONG, SLOT_REGION_OFFSET, layout.slotRegion());
    segment.set(JAVA_INT, SLOT_SIZE, config.slotSize());
    segment.set(JAVA_INT, SLOTS_PER_GUEST, config.slotsPerGuest());
    segment.set(JAVA_INT, MAX_CHANNELS, config.maxChannels());
    segment.set(JAVA_LONG, HEARTBEAT_INTERVAL, config.heartbeatIntervalNanos());
  }

  /** Writes the magic, with release order: a process that sees it sees a complete segment. */
  static void writeMagic(MemorySegment segment) {
    LONG.setRelease(segment, MAGIC, MAGIC_NUMBER);
  }

  /**
   * Reads and validates a header; each value is read once.
   *
   * @param fileBytes the length of the file
   * @param what the segment's name in error messages
   */
  // r[impl shm.handshake.no-negotiation]
  static SegmentLayout read(MemorySegment header, long fileBytes, String what)
      throws SegmentException {
    if (header.byteSize() < SegmentLayout.HEADER_BYTES) {
      throw refusal(
          NOT_A_SEGMENT, what, "has %d bytes, too few for a segment".formatted(fileBytes));
    }
    if ((long) LONG.getAcquire(header, MAGIC) != MAGIC_NUMBER) {
      throw refusal(
          INVALID_MAGIC, what, "is not a segment: its first eight bytes are not the magic");
    }
    int version = header.get(JAVA_INT, VERSION);
    Placement placement =
        Placement.of(version)
            .orElseThrow(
                () ->
                    refusal(
                        UNSUPPORTED_VERSION,
                        what,
                        "has the unknown version %d".formatted(version)));
    int headerSize = header.get(JAVA_INT, HEADER_SIZE);
    if (headerSize != SegmentLayout.HEADER_BYTES) {
      throw refusal(
          UNSUPPORTED_VERSION, what, "has a header of %d bytes, not 128".formatted(headerSize));
    }
    int features = placement == Placement.PADDED ? header.get(JAVA_INT, FEATURES) : 0;
    if (features != 0) {
      throw refusal(UNSUPPORTED_VERSION, what, "has the unknown features 0x%x".formatted(features));
    }
    SegmentLayout layout = layout(header, placement, what);
    checkPlaces(header, layout, fileBytes, what);
    return layout;
  }

  /** Refuses a segment whose host has left. */
  static void checkHost(MemorySegment header, String what) throws SegmentException {
    if ((int) INT.getAcquire(header, GOODBYE) != 0) {
      throw refusal(HOST_GOODBYE, what, "belongs to a host that has left");
    }
  }

  private static SegmentLayout layout(MemorySegment header, Placement placement, String what)
      throws SegmentException {
    try {
      return new SegmentLayout(
          placement,
          new SegmentConfig(
              size(header, MAX_PAYLOAD_SIZE, "max_payload_size"),
              Integer.toUnsignedLong(header.get(JAVA_INT, INITIAL_CREDIT)),
              size(header, MAX_GUESTS, "max_guests"),
              size(header, RING_SIZE, "ring_size"),
              size(header, SLOT_SIZE, "slot_size"),
              size(header, SLOTS_PER_GUEST, "slots_per_guest"),
              size(header, MAX_CHANNELS, "max_channels"),
              header.get(JAVA_LONG, HEARTBEAT_INTERVAL)));
    } catch (IllegalArgumentException e) {
      throw refusal(INVALID_CONFIG, what, "has an invalid header: %s".formatted(e.getMessage()));
    }
  }

  /** Fields are unsigned, but nothing over 2^31 can be mapped or copied in one piece. */
  private static int size(MemorySegment header, long offset, String name) {
    int value = header.get(JAVA_INT, offset);
    if (value < 0) {
      throw new IllegalArgumentException(
          "%s is %d, more than is supported".formatted(name, Integer.toUnsignedLong(value)));
    }
    return value;
  }

  private static void checkPlaces(
      MemorySegment header, SegmentLayout layout, long fileBytes, String what)
      throws SegmentException {
    check(what, "total_size", header.get(JAVA_LONG, TOTAL_SIZE), layout.totalBytes());
    check(what, "peer_table_offset", header.get(JAVA_LONG, PEER_TABLE_OFFSET), layout.peerTable());
    check(
        what, "slot_region_offset", header.get(JAVA_LONG, SLOT_REGION_OFFSET), layout.slotRegion());
    if (fileBytes < layout.totalBytes()) {
      throw refusal(
          INCONSISTENT, what, "is cut: %d of %d bytes".formatted(fileBytes, layout.totalBytes()));
    }
  }

  private static void check(String what, String field, long found, long expected)
      throws SegmentException {
    if (found != expected) {
      throw refusal(
          INCONSISTENT,
          what,
          "says %s %d where its configuration yields %d".formatted(field, found, expected));
    }
  }

  private static SegmentException refusal(Reason reason, String what, String text) {
    return new SegmentException(reason, what + " " + text);
  }
}
