package dev.belfry.shm;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A ring of the padded placement for one run of a race: empty, or with one message to be read. A
 * few hundred rings share one segment and are used in turn, because a segment for each of some
 * million runs would take too long.
 */
final class StressRing {
  /** The maximum number of concurrent runs: the stride that jcstress must not exceed. */
  static final int RINGS = 500;

  private static final Segment SEGMENT = segment();
  private static final AtomicInteger NEXT = new AtomicInteger();

  private final Memory memory = SEGMENT.memory();
  private final Ring ring;
  private final long head;
  private final long tail;
  private final long dataFlag;
  private final long spaceFlag;

  /** Takes the next ring and resets it. */
  StressRing() {
    int number = Math.floorMod(NEXT.getAndIncrement(), RINGS);
    int peer = 1 + number / 2;
    Direction direction = number % 2 == 0 ? Direction.TO_HOST : Direction.TO_GUEST;
    SegmentLayout layout = SEGMENT.layout();
    this.ring = new Ring(SEGMENT, peer, direction);
    this.head = memory.address(layout.head(peer, direction), Integer.BYTES);
    this.tail = memory.address(layout.tail(peer, direction), Integer.BYTES);
    this.dataFlag = memory.address(layout.dataSleeper(peer, direction), Integer.BYTES);
    this.spaceFlag = memory.address(layout.spaceSleeper(peer, direction), Integer.BYTES);
    memory.setInt(head, 0);
    memory.setInt(tail, 0);
    memory.setInt(dataFlag, Ring.AWAKE);
    memory.setInt(spaceFlag, Ring.AWAKE);
    memory.setLong(ring.descriptor(0), 0);
  }

  private static Segment segment() {
    try {
      return Segment.createAnonymous(
          Sys.forAnyThread(), Placement.PADDED, new SegmentConfig(4, 0, 250, 2, 8, 1, 1, 0));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What a sender does with its first message. */
  void send() {
    long first = MessageDescriptor.firstWord(MessageKind.REQUEST, ring.lapMark(0), 0);
    memory.setLongRelease(ring.descriptor(0), first);
    ring.publish(0, 1);
  }

  /** What a receiver does before it sleeps; returns whether there is a message after all. */
  boolean armForData() {
    ring.armData();
    return ring.available(0) != 0;
  }

  /** What a receiver does after it has read the first message. */
  void consume() {
    ring.consume(0, 1, false);
  }

  /**
   * What the sender of the first message does before it sleeps; returns whether it was read after
   * all.
   */
  boolean armForSpace() {
    ring.armSpace();
    return ring.unread(1) == 0;
  }

  /** Whether the receiver would sleep without being woken. */
  boolean isReceiverAsleep() {
    return memory.getInt(dataFlag) == Ring.ASLEEP;
  }

  /** Whether the sender would sleep without being woken. */
  boolean isSenderAsleep() {
    return memory.getInt(spaceFlag) == Ring.ASLEEP;
  }
}
