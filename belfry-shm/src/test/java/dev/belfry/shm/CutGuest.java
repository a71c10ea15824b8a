package dev.belfry.shm;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A guest of two segments, one of which is truncated before or while it walks into the other. */
final class CutGuest {
  private static final Sys SYS = Sys.forAnyThread();

  private CutGuest() {}

  public static void main(String[] arguments) throws Exception {
    Path cut = Path.of(arguments[1]);
    Path whole = Path.of(arguments[2]);
    ShmGuest first = ShmGuest.walkIn(SYS, cut, WaitStrategy.ADAPTIVE);
    if (arguments[0].equals("before")) {
      truncate(cut);
      leave(first);
      ShmGuest.walkIn(SYS, whole, WaitStrategy.ADAPTIVE).close();
    } else {
      ShmGuest other = ShmGuest.walkIn(SYS, whole, WaitStrategy.ADAPTIVE);
      truncate(cut);
      other.close();
      leave(first);
    }
    System.out.println("left the other");
  }

  private static void truncate(Path path) throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.truncate(0);
    }
  }

  private static void leave(ShmGuest guest) throws IOException {
    try {
      guest.close();
    } catch (SegmentLost expected) {
      // It has logged why it could not say goodbye.
    }
  }
}
