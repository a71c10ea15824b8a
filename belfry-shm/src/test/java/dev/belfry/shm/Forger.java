package dev.belfry.shm;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;

/**
 * A guest that mixes correct messages with forged words, and the host that reads them. One number
 * determines each round, so that every failure can be reproduced, and a fuzzer can choose the
 * numbers, too.
 */
final class Forger implements AutoCloseable {
  private static final int LONGEST = 188;

  /** With pockets of 128 bytes in the padded placement, so that there are messages of all kinds. */
  private static final SegmentConfig CONFIG = new SegmentConfig(LONGEST, 100, 1, 4, 8192, 3, 4, 0);

  static final int BUDGET = 16;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final long[] NASTY = {
    0,
    1,
    -1,
    2,
    3,
    4,
    31,
    32,
    33,
    96,
    97,
    128,
    129,
    LONGEST,
    LONGEST + 1,
    1L << 31,
    (1L << 31) - 1,
    1L << 32,
    Long.MIN_VALUE
  };

  private static final List<MessageKind> KINDS = List.of(MessageKind.values());

  private final Sides sides;
  private final Message message = new Message();
  private Link toHost;
  private Link toGuest;
  private long checksum;

  Forger(Placement placement) throws IOException {
    sides = Sides.of(placement, CONFIG);
    toHost = sides.toHost;
    toGuest = sides.toGuest;
  }

  /** After a violation, the host throws the guest out and it attaches again. */
  void comeAgain() throws IOException {
    sides.host.peers().leave(1, sides.host.peers().epoch(1));
    sides.host.peers().recover(1);
    toHost = Link.walkIn(sides.guest, WaitStrategy.SLEEP);
    toGuest = Link.toGuest(sides.host, 1, WaitStrategy.SLEEP);
  }

  /** A number that depends on every byte received. */
  long checksum() {
    return checksum;
  }

  /**
   * One message, some forged words, and a look by the host; returns the number of messages it got.
   */
  int round(long seed) {
    var random = new Random(seed);
    byte[] bytes = Sides.payload(random.nextInt(LONGEST + 1), random.nextInt());
    MessageKind kind = KINDS.get(random.nextInt(KINDS.size()));
    toHost.outbox().send(kind, random.nextInt(6), 0, bytes, 0, bytes.length);
    for (int i = random.nextInt(4) - 1; i > 0; i--) {
      forge(random);
    }
    return look();
  }

  /** Lets the host look; returns the number of messages it got. */
  int look() {
    return toGuest.inbox().receive(this::use, message, BUDGET);
  }

  /** Overwrites a word somewhere behind the peer table: in pools, rings or channels. */
  void overwrite(int place, long word) {
    long from = sides.host.layout().slotRegion();
    long room = sides.bytes().byteSize() - from - Long.BYTES;
    sides.bytes().set(LONG, from + place % room, word);
  }

  /** Overwrites a word of the descriptors or of the slots. */
  void rewrite(Random random) {
    SegmentLayout layout = sides.host.layout();
    long value = NASTY[random.nextInt(NASTY.length)];
    if (random.nextBoolean()) {
      int descriptor = random.nextInt(4) * layout.descriptorBytes();
      long fields = layout.ring(1, Direction.TO_HOST) + descriptor + 16;
      sides.bytes().set(INT, fields + random.nextInt(4) * 4L, (int) value);
    } else {
      long slot = layout.slot(1, random.nextInt(3));
      sides.bytes().set(INT, slot + random.nextInt(8) * 4L, (int) value);
    }
  }

  private void forge(Random random) {
    MemorySegment memory = sides.bytes();
    SegmentLayout layout = sides.host.layout();
    long value =
        random.nextBoolean()
            ? NASTY[random.nextInt(NASTY.length)]
            : random.nextLong() >>> random.nextInt(64);
    switch (random.nextInt(6)) {
      case 0 -> memory.set(INT, layout.head(1, Direction.TO_HOST), (int) value);
      case 1 -> memory.set(INT, layout.tail(1, Direction.TO_HOST), (int) value);
      case 2, 3 ->
          memory.set(
              INT,
              layout.ring(1, Direction.TO_HOST)
                  + (long) random.nextInt(4) * layout.descriptorBytes()
                  + random.nextInt(16) * 4L,
              (int) value);
      case 4 -> memory.set(LONG, layout.pool(1), value);
      default -> memory.set(INT, layout.channelState(1, random.nextInt(4)), (int) value);
    }
  }

  /** Uses a message as a host would: reads every byte, and looks up its channel. */
  private void use(Message received) {
    for (int i = 0; i < received.length(); i++) {
      checksum += received.bytes()[i];
    }
    if (received.kind().usesChannelId()) {
      Channel channel = toGuest.channels().of(received);
      if (channel != null && received.kind() == MessageKind.DATA) {
        channel.grant(received.length());
        checksum += channel.remainingCredit();
      }
    }
  }

  @Override
  public void close() throws IOException {
    sides.close();
  }
}
