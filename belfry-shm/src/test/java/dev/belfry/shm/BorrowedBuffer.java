package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Random;

/**
 * A buffer as large as the credit of a channel, in an unused part of the segment: the area of a
 * second guest. A sender with credit writes bytes there, round and round, and announces them by
 * Data of that length. The receiver checks the bytes, wipes them, and grants the credit back. Only
 * the order of these steps keeps the two apart.
 */
final class BorrowedBuffer {
  private static final int WINDOW = 256;
  static final SegmentConfig CONFIG = new SegmentConfig(60, WINDOW, 2, 64, 64, 4, 4, 0);
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private final Link link;
  private final MemorySegment buffer;
  private int at;

  BorrowedBuffer(Link link) {
    this.link = link;
    Segment segment = link.segment();
    this.buffer =
        segment.memory().mapping().asSlice(segment.layout().ring(2, Direction.TO_HOST), WINDOW);
  }

  private static int length(int number) {
    return number * 7 % 32 + 1;
  }

  private static byte content(int number) {
    return (byte) (number % 127 + 1); // never zero, which stands for wiped
  }

  /** Replaces the next bytes, each of which must be as the other side left it. */
  private void swap(int number, byte from, byte to) {
    for (int i = length(number); i > 0; i--, at++) {
      byte found = buffer.get(JAVA_BYTE, at % WINDOW);
      if (found != from) {
        throw new AssertionError(
            "message %d finds %d at %d, not %d".formatted(number, found, at % WINDOW, from));
      }
      buffer.set(JAVA_BYTE, at % WINDOW, to);
    }
  }

  /** Writes whenever there is credit. */
  void produce(int count) {
    Channel channel = Objects.requireNonNull(link.channels().open());
    byte[] nothing = new byte[32];
    for (int i = 0; i < count; i++) {
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      if (channel.awaitCredit(length(i), deadline) != Awaited.READY) {
        throw new AssertionError("no credit for message " + i);
      }
      swap(i, (byte) 0, content(i));
      if (channel.send(nothing, 0, length(i), deadline) != SendResult.SENT) {
        throw new AssertionError("cannot send message " + i);
      }
    }
  }

  /** Reads, wipes and grants, slowly enough that the other side sometimes runs out of credit. */
  void consume(int count) {
    var message = new Message();
    var random = new Random(count);
    for (int i = 0; i < count; i++) {
      if (link.inbox().receive(message, System.nanoTime() + PATIENCE_NANOS) != Awaited.READY) {
        throw new AssertionError("no message " + i);
      }
      Channel channel = Objects.requireNonNull(link.channels().of(message));
      if (i % 16 == 0) {
        Pauses.pause(random);
      }
      swap(i, content(i), (byte) 0);
      channel.grant(message.length());
    }
  }
}
