package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.bytes;
import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.errno;
import static dev.belfry.loop.DescriptorSupport.read;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.start;
import static dev.belfry.loop.DescriptorSupport.text;
import static dev.belfry.loop.DescriptorSupport.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Fd;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Sys;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.DescriptorSupport.Use;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** Files on disk, which epoll does not support. */
final class RegularFileTest {
  private static final int END = TransferOperation.END_OF_FILE;
  private static final int NEW = OpenFlags.READ_WRITE | OpenFlags.CREATE;

  private final Arena arena = Arena.ofAuto();

  @TempDir Path directory;

  // r[verify loop.op.file-open] r[verify loop.op.value]
  @EveryBackend
  void openingIsOneCall(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      for (Use use : Use.values()) {
        Path path = directory.resolve("new-" + use);
        long calls = tapped.calls("openat2");
        RegularFile file = use.result(loop, RegularFile.open(loop, path, NEW, 0600));
        assertThat(tapped.calls("openat2")).isEqualTo(calls + 1);
        assertThat(tapped.tap.calls("openat")).isZero();
        assertThat(path).exists();
        file.close();
      }
      assertThat(
              errno(loop, RegularFile.open(loop, directory.resolve("no"), OpenFlags.READ_ONLY, 0)))
          .isEqualTo(Errno.ENOENT);
    }
  }

  // Regression: each start allocated memory that was kept until the operation was collected.
  // r[verify loop.op.file-open]
  @EveryBackend
  void anOpenThatIsStartedAgainUsesTheSameMemory(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      OpenOperation open = RegularFile.open(loop, directory.resolve("again"), NEW, 0600);
      OpenFile.Request request = open.request();
      for (int i = 0; i < 3; i++) {
        result(loop, open).close();
      }
      assertThat(open.request()).isSameAs(request);
    }
  }

  // r[verify loop.op.file-open]
  @EveryBackend
  void aPathMayStartFromADirectoryAlsoWhereOneCallIsRefused(Backend backend) throws IOException {
    Files.writeString(Files.createDirectory(directory.resolve("sub")).resolve("f"), "the right");
    try (var tapped = new Tapped(backend);
        Fd from =
            OpenFile.open(Sys.forAnyThread(), directory.resolve("sub"), OpenFlags.directory(), 0)) {
      EventLoop loop = tapped.loop;
      for (int refusal : List.of(0, Errno.ENOSYS, Errno.EPERM)) {
        if (refusal != 0) {
          tapped.tap.fail("openat2", refusal);
        }
        RegularFile file =
            result(
                loop,
                RegularFile.openAt(loop, from.number(), Path.of("f"), OpenFlags.READ_ONLY, 0));
        assertThat(read(loop, file)).isEqualTo("the right");
        file.close();
        var missing = RegularFile.openAt(loop, from.number(), Path.of("g"), OpenFlags.READ_ONLY, 0);
        assertThat(errno(loop, missing)).isEqualTo(Errno.ENOENT);
      }
    }
  }

  // r[verify loop.op.read-some] r[verify loop.op.write-some]
  @EveryBackend
  void placesInAFileAreReadAndWritten(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (Use use : Use.values()) {
        Path path = directory.resolve("places-" + use);
        RegularFile file = result(loop, RegularFile.open(loop, path, NEW, 0600));
        assertThat(use.result(loop, file.writeAt(bytes(arena, "world"), 6))).isEqualTo(5);
        assertThat(use.result(loop, file.writeAt(bytes(arena, "hello "), 0))).isEqualTo(6);
        MemorySegment buffer = arena.allocate(8);
        assertThat(use.result(loop, file.readAt(buffer, 3))).isEqualTo(8);
        assertThat(text(buffer, 8)).isEqualTo("lo world");
        assertThat(use.result(loop, file.readAt(buffer, 9))).isEqualTo(2);
        assertThat(use.result(loop, file.readAt(buffer, 11))).isEqualTo(END);
        assertThat(use.result(loop, file.readAt(MemorySegment.NULL, 0))).isZero();
        // The position of the file has not moved.
        assertThat(read(loop, file)).isEqualTo("hello world");
        write(loop, file, "!");
        assertThat(Files.readString(path)).isEqualTo("hello world!");
        file.close();
      }
    }
  }

  // Regression: to io_uring, offset -1 means the current position, and a write went there.
  // r[verify loop.op.write-some] r[verify loop.backend.surface]
  @EveryBackend
  void aPlaceBeforeTheBeginningIsRefused(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      Path path = Files.writeString(directory.resolve("kept"), "kept");
      RegularFile file = result(loop, RegularFile.open(loop, path, NEW, 0600));
      MemorySegment buffer = bytes(arena, "x");
      for (long place : new long[] {-1, -5, Long.MIN_VALUE}) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> result(loop, file.writeAt(buffer, place)))
            .withMessageContaining(Long.toString(place));
        assertThatIllegalArgumentException()
            .isThrownBy(() -> result(loop, file.readAt(buffer, place)));
      }
      assertThat(Files.readString(path)).isEqualTo("kept");
      file.close();
    }
  }

  // Regression: io_uring ignores the offset of a file that cannot seek, and the read took data
  // meant for another.
  // r[verify loop.op.read-some] r[verify loop.op.write-some] r[verify loop.backend.surface]
  @EveryBackend
  void whereThereAreNoPlacesNoneIsReadOrWritten(Backend backend)
      throws IOException, InterruptedException {
    try (EventLoop loop = EventLoop.open(backend)) {
      RegularFile file = result(loop, RegularFile.open(loop, fifo(), OpenFlags.READ_WRITE, 0));
      for (int i = 0; i < 2; i++) {
        assertThat(errno(loop, file.writeAt(bytes(arena, "x"), 0))).isEqualTo(Errno.ESPIPE);
        assertThat(errno(loop, file.readAt(arena.allocate(8), 0))).isEqualTo(Errno.ESPIPE);
        assertThat(errno(loop, file.readAt(arena.allocate(8), 5))).isEqualTo(Errno.ESPIPE);
        write(loop, file, "in order");
        assertThat(errno(loop, file.readAt(arena.allocate(8), 0))).isEqualTo(Errno.ESPIPE);
        assertThat(read(loop, file)).isEqualTo("in order");
      }
      // Nor does it queue up behind a read that waits for data, as it did on epoll.
      var waiting = start(file.readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      assertThat(errno(loop, file.readAt(arena.allocate(8), 0))).isEqualTo(Errno.ESPIPE);
      assertThat(waiting.done()).isFalse();
      file.close();
    }
  }

  // Regression: io_uring took it for a file on disk and held the buffer while it waited, possibly
  // forever. Data that came later was written to freed memory.
  // r[verify loop.op.regular-file] r[verify loop.backend.surface]
  @EveryBackend
  void aReadThatWaitsForAFifoHoldsNoMemory(Backend backend)
      throws IOException, InterruptedException {
    try (EventLoop loop = EventLoop.open(backend)) {
      RegularFile file = result(loop, RegularFile.open(loop, fifo(), OpenFlags.READ_WRITE, 0));
      Arena closed = Arena.ofShared();
      var reading = start(file.readSome(closed.allocate(8)));
      loop.runUntilEmpty();
      assertThat(reading.done()).isFalse();
      closed.close();
      write(loop, file, "news");
      drive(loop, reading::done);
      assertThat(reading.outcome()).isEqualTo(Outcome.ERROR);
      assertThat(read(loop, file)).isEqualTo("news");
      file.close();
    }
  }

  private Path fifo() throws IOException, InterruptedException {
    Path path = directory.resolve("fifo");
    assertThat(new ProcessBuilder("mkfifo", path.toString()).inheritIO().start().waitFor())
        .isZero();
    return path;
  }

  // r[verify loop.op.regular-file]
  @EveryBackend
  void filesAreReadAndWrittenWithoutEpoll(Backend backend) throws IOException {
    try (var tapped =
        new Tapped(LoopOptions.DEFAULT.withBackend(backend).withTurnLimits(4096, 2))) {
      EventLoop loop = tapped.loop;
      Path path = directory.resolve("file");
      RegularFile file = result(loop, RegularFile.open(loop, path, NEW, 0600));
      long controls = tapped.tap.calls("epollCtl");
      MemorySegment much = arena.allocate(100_000).fill((byte) 'a');
      // More than the share of a turn, so it continues in later turns.
      assertThat(result(loop, file.writeAll(much))).isEqualTo(100_000);
      MemorySegment back = arena.allocate(100_001);
      assertThat(result(loop, file.readAt(back, 0))).isEqualTo(100_000);
      for (int i = 0; i < 100; i++) {
        assertThat(result(loop, file.readSome(back))).isEqualTo(END);
      }
      assertThat(tapped.tap.calls("epollCtl")).isLessThanOrEqualTo(controls + 1);
      assertThat(Files.size(path)).isEqualTo(100_000);

      RegularFile nothing =
          result(loop, RegularFile.open(loop, Path.of("/dev/null"), OpenFlags.READ_WRITE, 0));
      assertThat(result(loop, nothing.writeAll(much))).isEqualTo(100_000);
      assertThat(result(loop, nothing.readSome(back))).isEqualTo(END);
      nothing.close();

      RegularFile folder = result(loop, RegularFile.open(loop, directory, 0, 0));
      assertThat(errno(loop, folder.readSome(back))).isEqualTo(Errno.EISDIR);
      folder.close();
      file.close();
    }
  }

  // Regression: an operation that had to wait on a file that epoll refuses was never retried.
  // r[verify loop.op.regular-file] r[verify loop.err.transient]
  @EveryBackend
  void aFileThatWouldBlockIsTriedAgain(Backend backend) throws IOException {
    Path path = Files.writeString(directory.resolve("busy"), "data");
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      RegularFile file = result(loop, RegularFile.open(loop, path, OpenFlags.READ_ONLY, 0));
      long controls = tapped.tap.calls("epollCtl");
      tapped.failFirst("read", 3, Errno.EAGAIN);
      assertThat(read(loop, file)).isEqualTo("data");
      assertThat(tapped.tap.calls("epollCtl")).isEqualTo(controls + (tapped.isEpoll() ? 1 : 0));
      // A waiting operation ends with the loop.
      tapped.fail("read", Errno.EAGAIN);
      var waiting = start(file.readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      assertThat(waiting.done()).isFalse();
      loop.close();
      assertThat(waiting.outcome()).isEqualTo(Outcome.STOPPED);
      file.close();
    }
  }
}
