package dev.belfry.shm;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The contents of a segment at one moment, for people and tools. It is read without locks from
 * memory that is being written, so numbers need not agree with each other. Nothing is validated:
 * values that make no sense are shown as they are.
 *
 * @param segment the path
 * @param placement the layout
 * @param bytes the length
 * @param config the configuration
 * @param hostGoodbye whether the host has left in good order
 * @param hostFreeSlots the number of free slots in the host's pool
 * @param peers the entries that were ever used
 */
public record SegmentSnapshot(
    String segment,
    Placement placement,
    long bytes,
    SegmentConfig config,
    boolean hostGoodbye,
    int hostFreeSlots,
    List<Peer> peers) {

  /**
   * A peer entry.
   *
   * @param state by name, or by number if invalid
   * @param heartbeatNanos the guest's last heartbeat on the monotonic clock, 0 for none
   */
  public record Peer(
      int id,
      String state,
      long epoch,
      Counters toHost,
      Counters toGuest,
      int freeSlots,
      long heartbeatNanos,
      List<ChannelEntry> channels) {}

  /**
   * The counters of a ring.
   *
   * @param depth the number of messages in flight
   */
  public record Counters(long head, long tail, long depth) {}

  /** A channel that is or was in use; its state by name, or by number if invalid. */
  public record ChannelEntry(int id, String state, long grantedTotal) {}

  /**
   * Takes a snapshot of a segment.
   *
   * @throws SegmentLost if its file was truncated
   */
  public static SegmentSnapshot of(Segment segment) {
    return segment.use(() -> look(segment));
  }

  private static SegmentSnapshot look(Segment segment) {
    SegmentLayout layout = segment.layout();
    Memory memory = segment.memory();
    var peers = new ArrayList<Peer>();
    for (int peer = 1; peer <= layout.config().maxGuests(); peer++) {
      Peer entry = peer(memory, layout, peer);
      if (entry != null) {
        peers.add(entry);
      }
    }
    return new SegmentSnapshot(
        segment.toString(),
        layout.placement(),
        layout.totalBytes(),
        layout.config(),
        segment.hasHostLeft(),
        freeSlots(memory, layout, 0),
        List.copyOf(peers));
  }

  private static @Nullable Peer peer(Memory memory, SegmentLayout layout, int peer) {
    long pair = memory.getLongAcquire(memory.address(layout.stateAndEpoch(peer), Long.BYTES));
    if (pair == 0) {
      return null;
    }
    int state = (int) pair;
    return new Peer(
        peer,
        name(state, List.of(PeerState.values())),
        pair >>> 32,
        counters(memory, layout, peer, Direction.TO_HOST),
        counters(memory, layout, peer, Direction.TO_GUEST),
        freeSlots(memory, layout, peer),
        memory.getLongAcquire(memory.address(layout.heartbeat(peer), Long.BYTES)),
        channels(memory, layout, peer));
  }

  private static Counters counters(
      Memory memory, SegmentLayout layout, int peer, Direction direction) {
    int tail = memory.getIntAcquire(memory.address(layout.tail(peer, direction), Integer.BYTES));
    int head = memory.getIntAcquire(memory.address(layout.head(peer, direction), Integer.BYTES));
    return new Counters(
        Integer.toUnsignedLong(head),
        Integer.toUnsignedLong(tail),
        Integer.toUnsignedLong(head - tail));
  }

  static int freeSlots(Memory memory, SegmentLayout layout, int owner) {
    int free = 0;
    for (int word = 0; word < layout.bitmapWords(); word++) {
      long bits = memory.getLongAcquire(memory.address(layout.pool(owner) + 8L * word, Long.BYTES));
      if (layout.isPadded()) {
        bits |= memory.getLong(memory.address(layout.keptSlots(owner) + 8L * word, Long.BYTES));
      }
      free += Long.bitCount(bits & layout.allFree(word));
    }
    return free;
  }

  private static List<ChannelEntry> channels(Memory memory, SegmentLayout layout, int peer) {
    var channels = new ArrayList<ChannelEntry>();
    for (int id = 1; id < layout.config().maxChannels(); id++) {
      int state =
          memory.getIntAcquire(memory.address(layout.channelState(peer, id), Integer.BYTES));
      int granted =
          memory.getIntAcquire(memory.address(layout.channelGranted(peer, id), Integer.BYTES));
      if (state != 0 || granted != 0) {
        channels.add(
            new ChannelEntry(
                id,
                name(state, List.of("FREE", "ACTIVE", "CLOSED")),
                Integer.toUnsignedLong(granted)));
      }
    }
    return List.copyOf(channels);
  }

  private static String name(int number, List<?> names) {
    return number >= 0 && number < names.size() ? names.get(number).toString() : "? " + number;
  }
}
