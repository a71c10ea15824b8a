package dev.belfry.bench.signal;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The file in which a receiver records when it handled each signal; see {@code signal_load.c}. */
final class Mailbox {
  private static final int MAX = 100_000;
  private static final int SLOTS = 8;
  private static final long BYTES = (long) (SLOTS + MAX) * Long.BYTES;
  private static final VarHandle WORD = ValueLayout.JAVA_LONG.arrayElementVarHandle();

  private final MemorySegment words;
  private int expected;

  private Mailbox(MemorySegment words) {
    this.words = words;
  }

  /** Creates an empty file. */
  static void create(Path file) throws IOException {
    Files.write(file, new byte[Math.toIntExact(BYTES)]);
  }

  static Mailbox open(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new Mailbox(channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, Arena.global()));
    }
  }

  /** Records that the only signal in flight was handled. */
  void handled(long nanos) {
    WORD.setVolatile(words, 0L, SLOTS + (long) WORD.getVolatile(words, 0L, 0L), nanos);
  }

  /** Records that a queued signal was handled. */
  void handled(int number, long nanos) {
    if (number != 0 && number != expected) {
      WORD.getAndAdd(words, 0L, 1L, 1L); // out of order
    }
    expected = number + 1;
    WORD.setVolatile(words, 0L, (long) SLOTS + number, nanos);
  }
}
