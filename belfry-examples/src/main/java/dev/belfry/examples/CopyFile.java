package dev.belfry.examples;

import dev.belfry.linux.OpenFlags;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.RegularFile;
import dev.belfry.loop.TransferOperation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Copies a file with callbacks rather than a coroutine: one read and one write operation take
 * turns, and nothing is allocated between the first and the last.
 */
// @start region="copy-file"
final class CopyFile {
  private final EventLoop loop;
  private final RegularFile from;
  private final RegularFile to;
  private final MemorySegment buffer = Arena.ofAuto().allocate(64 * 1024);
  private final TransferOperation read;
  private final TransferOperation write;
  private long copied;

  private CopyFile(EventLoop loop, RegularFile from, RegularFile to) {
    this.loop = loop;
    this.from = from;
    this.to = to;
    this.read = from.readAt(buffer, 0);
    this.write = to.writeAt(buffer, 0);
  }

  private void readNext() {
    read.offset(copied)
        .start(
            done -> {
              if (done.hasValue() && read.bytes() > 0) {
                writeNext(read.bytes());
              } else {
                loop.requestStop();
              }
            });
  }

  private void writeNext(int bytes) {
    write
        .buffer(buffer.asSlice(0, bytes))
        .offset(copied)
        .start(
            done -> {
              if (done.hasValue()) {
                copied += write.bytes();
                readNext();
              } else {
                loop.requestStop();
              }
            });
  }

  // @end

  public static void main(String[] args) throws IOException {
    int create = OpenFlags.WRITE_ONLY | OpenFlags.CREATE | OpenFlags.TRUNCATE;
    try (EventLoop loop = EventLoop.open()) {
      var opening =
          loop.spawn(
              "open",
              () -> {
                Path source = Path.of(args[0]);
                Path target = Path.of(args[1]);
                RegularFile from = RegularFile.open(loop, source, OpenFlags.READ_ONLY, 0).await();
                RegularFile to = RegularFile.open(loop, target, create, 0644).await();
                var copy = new CopyFile(loop, from, to);
                copy.readNext();
                return copy;
              });
      opening.result().exceptionally(failure -> abandon(loop, failure));
      loop.run();
      CopyFile copy = opening.result().getNow(null);
      if (copy != null) {
        copy.from.close();
        copy.to.close();
        Throwable failure = copy.read.hasValue() ? copy.write.error() : copy.read.error();
        if (failure != null) {
          throw new IOException("copied only " + copy.copied + " bytes", failure);
        }
        System.out.println("copied " + copy.copied + " bytes");
      }
    }
  }

  private static @Nullable CopyFile abandon(EventLoop loop, Throwable failure) {
    System.err.println(failure.getMessage());
    loop.requestStop();
    return null;
  }
}
