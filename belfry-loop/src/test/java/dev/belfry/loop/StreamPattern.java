package dev.belfry.loop;

import dev.belfry.linux.Sys;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** An endless stream of bytes in which the byte at each position is known. */
final class StreamPattern {
  private static final int MSG_DONTWAIT = 0x40;

  private StreamPattern() {}

  /** The byte at a position of the stream. */
  static byte at(long place) {
    return (byte) (place * 31 + (place >> 8));
  }

  /** Sends as much of the stream as fits; returns the new position. */
  static long sendOn(StreamSocket socket, long from, long atMost) {
    MemorySegment some = Arena.ofAuto().allocate(atMost);
    for (long i = 0; i < atMost; i++) {
      some.set(ValueLayout.JAVA_BYTE, i, at(from + i));
    }
    long sent = Sys.forAnyThread().send(socket.descriptor(), some, atMost, MSG_DONTWAIT);
    return sent < 0 ? from : from + sent;
  }

  static void check(MemorySegment memory, int length, long place) {
    for (int i = 0; i < length; i++) {
      if (memory.get(ValueLayout.JAVA_BYTE, i) != at(place + i)) {
        throw new AssertionError("wrong byte at " + (place + i));
      }
    }
  }
}
