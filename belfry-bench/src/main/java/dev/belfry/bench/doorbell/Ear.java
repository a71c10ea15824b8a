package dev.belfry.bench.doorbell;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A word in a file, in which the woken process records the time. */
final class Ear {
  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

  private final MemorySegment word;

  private Ear(MemorySegment word) {
    this.word = word;
  }

  static void create(Path file) throws IOException {
    Files.write(file, new byte[Long.BYTES]);
  }

  static Ear open(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new Ear(channel.map(FileChannel.MapMode.READ_WRITE, 0, Long.BYTES, Arena.global()));
    }
  }

  /** Resets the word. */
  void clear() {
    WORD.setRelease(word, 0L, 0L);
  }

  /** Records the time. */
  void heard() {
    WORD.setRelease(word, 0L, System.nanoTime());
  }

  /** Waits, without sleeping, for the recorded time. */
  long awaitHeard() {
    long when = 0;
    while (when == 0) {
      when = (long) WORD.getAcquire(word, 0L);
      Thread.onSpinWait();
    }
    return when;
  }
}
