package dev.belfry.shm;

import static dev.belfry.shm.PeerState.ATTACHED;
import static dev.belfry.shm.PeerState.EMPTY;
import static dev.belfry.shm.PeerState.GOODBYE;
import static dev.belfry.shm.PeerState.RESERVED;

import dev.belfry.shm.SegmentException.Reason;

/**
 * The table of peer entries. The state and epoch of an entry are always read and changed together,
 * as one 64-bit word, so that an attached guest is never seen with the epoch of its predecessor.
 * Safe for use by any number of threads and processes.
 *
 * <pre>
 *            reserve             claim                leave, or the host notices
 *   EMPTY ────────────► RESERVED ──────► ATTACHED ───────────► GOODBYE ────► EMPTY
 *     │ epoch + 1           └─► EMPTY       ▲                        recover
 *     └─────────────────────────────────────┘ release
 *            walk in, epoch + 1
 * </pre>
 */
public final class PeerTable {
  private final Segment segment;
  private final SegmentLayout layout;
  private final Memory memory;

  PeerTable(Segment segment) {
    this.segment = segment;
    this.layout = segment.layout();
    this.memory = segment.memory();
  }

  /** State and epoch of an entry as one word; the state is in the lower half. */
  static long pair(PeerState state, int epoch) {
    return state.number() | (Integer.toUnsignedLong(epoch) << 32);
  }

  long pairAddress(int peer) {
    return memory.address(layout.stateAndEpoch(peer), Long.BYTES);
  }

  private long pair(int peer) {
    return memory.getLongAcquire(pairAddress(peer));
  }

  private static int epochOf(long pair) {
    return (int) (pair >>> 32);
  }

  /**
   * Callers have read the pair before: in truncated memory that read fails with an error, whereas
   * this compare-and-set would crash the JVM.
   */
  private boolean change(int peer, long from, PeerState to, int epoch) {
    return memory.compareAndSetLong(pairAddress(peer), from, pair(to, epoch));
  }

  /**
   * The state of an entry.
   *
   * @throws ProtocolViolation if the entry does not hold a valid state
   */
  public PeerState state(int peer) {
    return PeerState.of((int) pair(peer));
  }

  /** Whether a guest is attached to the entry; an invalid state counts as no guest. */
  boolean isAttached(int peer) {
    return (int) pair(peer) == ATTACHED.number();
  }

  /** Whether a guest is attached to the entry, or has left it and not been cleaned up. */
  boolean isVisited(int peer) {
    int state = (int) pair(peer);
    return state == ATTACHED.number() || state == GOODBYE.number();
  }

  /** Whether an entry is in a state with an epoch; reads both atomically. */
  boolean isIn(int peer, PeerState state, int epoch) {
    return pair(peer) == pair(state, epoch);
  }

  /** How often the entry was taken. */
  // r[impl shm.crash.epoch]
  public int epoch(int peer) {
    return epochOf(pair(peer));
  }

  /**
   * Reserves an entry for a guest that the host starts.
   *
   * @return the peer id
   * @throws SegmentException if all entries are taken
   */
  public int reserve() throws SegmentException {
    return takeEmpty(RESERVED);
  }

  /** Releases a reservation, unless the guest has attached; returns whether it did. */
  public boolean release(int peer) {
    long now = pair(peer);
    if (now != pair(RESERVED, epochOf(now))) {
      return false;
    }
    clearSleepers(peer); // an earlier guest may have set SPINS; the next one may sleep
    return change(peer, now, EMPTY, epochOf(now));
  }

  /**
   * Takes the first free entry for a guest that walks in.
   *
   * @return the peer id
   */
  // r[impl shm.guest.attach]
  int walkIn() throws SegmentException {
    int peer = takeEmpty(ATTACHED);
    clearChannels(peer);
    return peer;
  }

  /** Takes the entry that was reserved for a guest. */
  void claim(int peer) throws SegmentException {
    long now = pair(layout.checkPeer(peer));
    if (now != pair(RESERVED, epochOf(now)) || !change(peer, now, ATTACHED, epochOf(now))) {
      throw new SegmentException(
          Reason.NOT_RESERVED,
          "%s: entry %d is not reserved; a ticket is good for one guest, once"
              .formatted(segment, peer));
    }
    clearChannels(peer);
  }

  // r[impl shm.guest.attach-failure]
  private int takeEmpty(PeerState to) throws SegmentException {
    for (int peer = 1; peer <= layout.config().maxGuests(); peer++) {
      long now = pair(peer);
      if (now == pair(EMPTY, epochOf(now)) && change(peer, now, to, epochOf(now) + 1)) {
        return peer;
      }
    }
    throw new SegmentException(
        Reason.NO_FREE_PEER_ENTRY,
        "%s: no free peer entry, all %d are taken".formatted(segment, layout.config().maxGuests()));
  }

  /**
   * Marks a guest as gone, because it leaves or the host gives it up.
   *
   * @return whether it was still attached
   */
  // r[impl shm.goodbye.guest]
  public boolean leave(int peer, int epoch) {
    return isIn(peer, ATTACHED, epoch) && change(peer, pair(ATTACHED, epoch), GOODBYE, epoch);
  }

  /** Marks a guest as gone on behalf of the host, whatever the guest has written over its state. */
  void giveUp(int peer, int epoch) {
    memory.setLongRelease(pairAddress(peer), pair(GOODBYE, epoch));
  }

  /**
   * Prepares an entry for the next guest. The entry must be in {@link PeerState#GOODBYE}, its ring
   * read to the end, and its guest certain to write no more. The entry is freed last, so that the
   * next guest finds no trace of its predecessor.
   */
  // r[impl shm.crash.recovery]
  public void recover(int peer) {
    if (state(peer) != GOODBYE) {
      throw new IllegalStateException("peer %d has not left".formatted(peer));
    }
    for (Direction direction : Direction.values()) {
      memory.setInt(memory.address(layout.head(peer, direction), Integer.BYTES), 0);
      memory.setInt(memory.address(layout.tail(peer, direction), Integer.BYTES), 0);
      if (layout.isPadded()) {
        // Lap marks of the first lap would look like messages of the next guest.
        clear(layout.ring(peer, direction), layout.ringBytes());
      }
    }
    clearSleepers(peer);
    memory.setLong(memory.address(layout.heartbeat(peer), Long.BYTES), 0);
    if (layout.isPadded()) {
      clear(layout.keptSlots(peer), 8L * layout.bitmapWords());
    }
    for (int word = 0; word < layout.bitmapWords(); word++) {
      long address = memory.address(layout.pool(peer) + 8L * word, Long.BYTES);
      memory.setLongRelease(address, layout.allFree(word));
    }
    segment.hostSlots().takeBack(peer);
    clearChannels(peer);
    memory.setLongRelease(pairAddress(peer), pair(EMPTY, epoch(peer)));
  }

  private void clearSleepers(int peer) {
    if (layout.isPadded()) {
      for (Direction direction : Direction.values()) {
        clear(layout.dataSleeper(peer, direction), Integer.BYTES);
        clear(layout.spaceSleeper(peer, direction), Integer.BYTES);
      }
    }
  }

  // r[impl shm.flow.channel-table]
  private void clearChannels(int peer) {
    clear(layout.channelTable(peer), layout.channelTableBytes());
  }

  private void clear(long offset, long bytes) {
    memory.mapping().asSlice(offset, bytes).fill((byte) 0);
  }
}
