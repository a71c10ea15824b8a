package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.bytes;
import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.read;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.send;
import static dev.belfry.loop.DescriptorSupport.start;
import static dev.belfry.loop.DescriptorSupport.tcp;
import static dev.belfry.loop.DescriptorSupport.text;
import static dev.belfry.loop.DescriptorSupport.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.OpenFlags;
import dev.belfry.loop.DescriptorSupport.Use;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;

/** Reading and writing, with all kinds of memory. */
final class TransferTest {
  private static final int END = TransferOperation.END_OF_FILE;

  private final Arena arena = Arena.ofAuto();

  @TempDir Path directory;

  /** A writing end and a reading end. */
  private record Way(ByteHandle from, ByteHandle to) implements AutoCloseable {
    @Override
    public void close() {
      from.close();
      to.close();
    }
  }

  private List<Way> ways(EventLoop loop) throws IOException {
    var tcp = tcp(loop);
    var unix = StreamSocket.pair(loop, loop);
    var pipe = Descriptor.pipe(loop);
    Path file = Files.createTempFile(directory, "way", null);
    int flags = OpenFlags.READ_WRITE;
    return List.of(
        new Way(tcp.first(), tcp.second()),
        new Way(unix.first(), unix.second()),
        new Way(pipe.writer(), pipe.reader()),
        new Way(
            result(loop, RegularFile.open(loop, file, flags, 0)),
            result(loop, RegularFile.open(loop, file, flags, 0))));
  }

  /** Closes the writing end, so that the reader reaches the end. */
  private static void end(EventLoop loop, Way way) throws IOException {
    way.from().close();
    loop.runUntilEmpty();
  }

  // r[verify loop.op.read-some] r[verify loop.op.write-some] r[verify loop.op.value]
  @EveryBackend
  void oneBufferTakesWhatThereIs(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (Use use : Use.values()) {
        for (Way way : ways(loop)) {
          MemorySegment buffer = arena.allocate(8);
          assertThat(use.result(loop, way.from().writeSome(bytes(arena, "short")))).isEqualTo(5);
          assertThat(use.result(loop, way.to().readSome(buffer))).isEqualTo(5);
          assertThat(text(buffer, 5)).isEqualTo("short");
          assertThat(use.result(loop, way.from().writeSome(bytes(arena, "12345678+"))))
              .isEqualTo(9);
          assertThat(use.result(loop, way.to().readSome(buffer))).isEqualTo(8);
          assertThat(use.result(loop, way.to().readSome(buffer))).isEqualTo(1);
          assertThat(text(buffer, 1)).isEqualTo("+");
          end(loop, way);
          assertThat(use.result(loop, way.to().readSome(buffer))).isEqualTo(END);
          assertThat(use.result(loop, way.to().readSome(buffer))).isEqualTo(END);
          way.close();
        }
      }
    }
  }

  // r[verify loop.op.read-some] r[verify loop.op.write-some]
  @EveryBackend
  void severalBuffersAreFilledAndSentOneAfterTheOther(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (Use use : Use.values()) {
        for (Way way : ways(loop)) {
          var three = List.of(bytes(arena, "one"), bytes(arena, ""), bytes(arena, "three"));
          assertThat(use.result(loop, way.from().writeSome(three))).isEqualTo(8);
          var room = List.of(arena.allocate(2), arena.allocate(4), arena.allocate(8));
          assertThat(use.result(loop, way.to().readSome(room))).isEqualTo(8);
          assertThat(text(room.get(0), 2) + text(room.get(1), 4) + text(room.get(2), 2))
              .isEqualTo("onethree");
          end(loop, way);
          assertThat(use.result(loop, way.to().readSome(room))).isEqualTo(END);
          way.close();
        }
      }
    }
  }

  // Regression: it sent nothing, because the message had been replaced by an empty one.
  @EveryBackend
  void buffersThatAreRefusedChangeNothing(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (Way way : ways(loop)) {
        TransferOperation out = way.from().writeSome(List.of(bytes(arena, "a"), bytes(arena, "b")));
        var some = List.of(bytes(arena, "c"), MemorySegment.ofArray(new byte[1]));
        assertThatIllegalArgumentException().isThrownBy(() -> out.buffers(some));
        assertThat(result(loop, out)).isEqualTo(2);
        way.from().close();
        way.to().close();
      }
    }
  }

  // Regression: a buffer meant for the next start was used by the one in flight, and on io_uring
  // memory held by the kernel could be freed meanwhile.
  @EveryBackend
  void anOperationInFlightKeepsItsBuffer(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = StreamSocket.pair(loop, loop);
      MemorySegment first = arena.allocate(8);
      MemorySegment second = arena.allocate(8);
      TransferOperation read = pair.first().readSome(first);
      var parked = start(read);
      loop.runUntilEmpty();
      for (ThrowingCallable change :
          List.<ThrowingCallable>of(
              () -> read.buffer(second),
              () -> read.buffer(ByteBuffer.allocateDirect(8)),
              () -> read.buffers(List.of(second)),
              () -> read.offset(1))) {
        assertThatIllegalStateException()
            .isThrownBy(change)
            .withMessageContaining("has not completed yet");
      }
      send(pair.second(), "one");
      drive(loop, parked::done);
      assertThat(text(first, parked.value())).isEqualTo("one");
      send(pair.second(), "two");
      assertThat(text(second, result(loop, read.buffer(second)))).isEqualTo("two");
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.op.read-some] r[verify loop.op.write-some]
  @EveryBackend
  void aDirectByteBufferAdvances(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (Way way : ways(loop)) {
        ByteBuffer out = ByteBuffer.allocateDirect(16);
        out.put("..text".getBytes(StandardCharsets.US_ASCII)).flip().position(2);
        ByteBuffer in = ByteBuffer.allocateDirect(16).position(3).limit(9);
        assertThat(result(loop, way.from().writeSome(out))).isEqualTo(4);
        assertThat(out.remaining()).isZero();
        TransferOperation reading = way.to().readSome(in);
        assertThat(result(loop, reading)).isEqualTo(4);
        assertThat(in.position()).isEqualTo(7);
        assertThat((char) in.get(3)).isEqualTo('t');
        // Regression: when started again, it overwrote what was read first.
        write(loop, way.from(), "abcdef");
        assertThat(result(loop, reading)).isEqualTo(2);
        assertThat(in.remaining()).isZero();
        assertThat((char) in.get(3)).isEqualTo('t');
        assertThat((char) in.get(7)).isEqualTo('a');
        assertThat(result(loop, reading)).isZero(); // no room left
        way.close();
      }
    }
  }

  // r[verify loop.op.write-some] r[verify loop.op.read-some]
  @EveryBackend
  void allMeansAllHoweverOftenItHasToWait(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      int size = 3_000_000;
      MemorySegment out = arena.allocate(size);
      for (int i = 0; i < size; i++) {
        out.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
      }
      for (Way way : ways(loop)) {
        MemorySegment in = arena.allocate(size);
        var writing = start(way.from().writeAll(out));
        if (way.from() instanceof RegularFile) {
          drive(loop, writing::done);
        }
        assertThat(result(loop, way.to().readAll(in))).isEqualTo(size);
        drive(loop, writing::done);
        assertThat(writing.value()).isEqualTo(size);
        assertThat(in.mismatch(out)).isEqualTo(-1);

        // At the end of the file it reads less, then nothing.
        write(loop, way.from(), "rest");
        end(loop, way);
        assertThat(result(loop, way.to().readAll(in))).isEqualTo(4);
        assertThat(result(loop, way.to().readAll(in))).isEqualTo(END);
        way.close();
      }
    }
  }

  // r[verify loop.op.write-some]
  @EveryBackend
  void aFullSocketTakesAPartAndGoesOnWhenItsPeerReads(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (var pair : List.of(tcp(loop), StreamSocket.pair(loop, loop))) {
        MemorySegment large = arena.allocate(16 << 20);
        int part = result(loop, pair.first().writeSome(large));
        assertThat(part).isPositive().isLessThan(16 << 20);
        var parked = start(pair.first().writeSome(large));
        loop.runUntilEmpty();
        while (parked.done()) { // the receive buffer may still grow
          parked = start(pair.first().writeSome(large));
          loop.runUntilEmpty();
        }
        MemorySegment room = arena.allocate(1 << 20);
        while (!parked.done()) {
          assertThat(result(loop, pair.second().readSome(room))).isPositive();
          loop.runUntilEmpty();
        }
        assertThat(parked.value()).isPositive();
        pair.first().close();
        pair.second().close();
      }
    }
  }

  // Regression: where a read was known to have to wait, an empty one waited too.
  // r[verify loop.op.zero]
  @EveryBackend
  void anEmptyBufferCompletesAtOnceAndSaysNothing(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (Use use : Use.values()) {
        for (Way way : ways(loop)) {
          assertThat(use.result(loop, way.to().readSome(MemorySegment.NULL))).isZero();
          assertThat(use.result(loop, way.to().readAll(arena.allocate(0)))).isZero();
          assertThat(use.result(loop, way.to().readSome(ByteBuffer.allocateDirect(0)))).isZero();
          assertThat(use.result(loop, way.to().readSome(List.of(MemorySegment.NULL)))).isZero();
          assertThat(use.result(loop, way.from().writeSome(MemorySegment.NULL))).isZero();
          assertThat(use.result(loop, way.from().writeAll(MemorySegment.NULL))).isZero();
          if (way.to() instanceof RegularFile) {
            way.close();
            continue;
          }
          var waiting = start(way.to().readSome(arena.allocate(8)));
          loop.runUntilEmpty();
          assertThat(waiting.done()).isFalse();
          assertThat(use.result(loop, way.to().readSome(MemorySegment.NULL))).isZero();
          assertThat(waiting.done()).isFalse();
          send(way.from(), "now");
          drive(loop, waiting::done);
          assertThat(waiting.value()).isEqualTo(3);
          way.close();
        }
      }
    }
  }

  // r[verify loop.op.read-some]
  @EveryBackend
  void memoryTheKernelCannotUseIsRefused(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pipe = Descriptor.pipe(loop);
      var way = new Way(pipe.writer(), pipe.reader());
      MemorySegment heap = MemorySegment.ofArray(new byte[8]);
      assertThatThrownBy(() -> way.to().readSome(heap))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("native memory");
      assertThatThrownBy(() -> way.from().writeAll(heap)).hasMessageContaining("native memory");
      assertThatThrownBy(() -> way.from().writeSome(List.of(heap)))
          .hasMessageContaining("native memory");
      assertThatThrownBy(() -> way.to().readSome(ByteBuffer.allocate(8)))
          .hasMessageContaining("direct");
      MemorySegment constant = arena.allocate(8).asReadOnly();
      assertThatThrownBy(() -> way.to().readSome(constant)).hasMessageContaining("written");
      assertThatThrownBy(() -> way.to().readSome(List.of(constant)))
          .hasMessageContaining("written");
      assertThat(result(loop, way.from().writeSome(constant))).isEqualTo(8);
      way.close();
    }
  }

  // r[verify loop.op.error]
  @EveryBackend
  void aBufferThatWasFreedFailsItsOperationAlone(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (Way way : ways(loop)) {
        try (way) {
          Arena freed = Arena.ofShared();
          // Freed before the first attempt.
          var early = way.to().readSome(freed.allocate(8));
          var pieces = way.to().readSome(List.of(arena.allocate(1), freed.allocate(8)));
          var out = way.from().writeSome(List.of(freed.allocate(8)));
          // Freed while it waits.
          var late = way.to().readSome(freed.allocate(8));
          var latePieces = way.to().readSome(List.of(freed.allocate(8)));
          var probes = List.of(start(late), start(latePieces));
          boolean waits = !(way.to() instanceof RegularFile);
          if (waits) {
            loop.runUntilEmpty();
          }
          freed.close();
          var more = List.of(start(early), start(pieces), start(out));
          drive(loop, more.getLast()::done);
          assertThat(out.error()).isInstanceOf(IllegalStateException.class);
          write(loop, way.from(), "x"); // causes an event
          for (var probe : List.of(probes.get(0), probes.get(1), more.get(0), more.get(1))) {
            drive(loop, probe::done);
            assertThat(probe.operation.error()).isInstanceOf(IllegalStateException.class);
            assertThat(probe.count()).isEqualTo(1);
          }
          assertThat(read(loop, way.to())).isEqualTo("x");
        }
      }
      assertThat(loop.inFlight()).isZero();
    }
  }

  // Regression: a request that could not be written failed, but the loop slept before delivering
  // that.
  // r[verify loop.wait.flush-first] r[verify loop.op.error]
  @EveryBackend
  void aFreedBufferFailsItsOperationBeforeTheLoopSleeps(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend).asleep()) {
      var pair = StreamSocket.pair(driven.loop(), driven.loop());
      var failure = new CompletableFuture<@Nullable Throwable>();
      driven
          .scheduler()
          .execute(
              () -> {
                TransferOperation write;
                try (Arena freed = Arena.ofConfined()) {
                  write = pair.first().writeSome(freed.allocate(8));
                }
                write.start(ended -> failure.complete(ended.error()));
              });
      assertThat(LoopSupport.get(failure)).isInstanceOf(IllegalStateException.class);
      pair.first().close();
      pair.second().close();
    }
  }

  // Regression: several buffers were not checked. Whether the loop could fill them then depended on
  // where the data was at the time.
  // r[verify loop.op.read-some]
  @EveryBackend
  void memoryThatIsConfinedToACoroutineIsRefused(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      var pair = StreamSocket.pair(driven.loop(), driven.loop());
      StreamSocket socket = pair.first();
      Coroutine<Void> coroutine =
          driven
              .loop()
              .spawn(
                  "confined",
                  () -> {
                    try (Arena confined = Arena.ofConfined()) {
                      MemorySegment buffer = confined.allocate(8);
                      for (ThrowingCallable use :
                          List.<ThrowingCallable>of(
                              () -> socket.readSome(buffer),
                              () -> socket.writeAll(buffer.asByteBuffer()),
                              () -> socket.readSome(List.of(arena.allocate(8), buffer)),
                              () -> socket.writeSome(List.of(buffer)))) {
                        assertThatIllegalArgumentException()
                            .isThrownBy(use)
                            .withMessageContaining("Arena.ofAuto()");
                      }
                    }
                  });
      LoopSupport.get(coroutine.result());
      pair.first().close();
      pair.second().close();
    }
  }

  // An operation that fails at once and is restarted by its callback would monopolise the loop if
  // all follow-up work were done in the same turn.
  // r[verify loop.op.fair]
  @EveryBackend
  void whatFailsForEverDoesNotStopTheLoop(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = StreamSocket.pair(loop, loop);
      pair.first().close();
      pair.second().close();
      var go = new boolean[] {true};
      TransferOperation reading = pair.first().readSome(arena.allocate(8));
      reading.start(
          new Completion<>() {
            @Override
            public void completed(Operation<? extends Integer> read) {
              if (go[0]) {
                reading.start(this);
              }
            }
          });
      var timer = start(loop.scheduler().after(Duration.ofMillis(1)));
      drive(loop, timer::done);
      go[0] = false;
      drive(loop, () -> loop.inFlight() == 0);
    }
  }

  // Regression: on io_uring it was noticed only when data had come.
  // r[verify loop.backend.surface]
  @EveryBackend
  void aBufferThatIsGoneFailsAtOnce(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = DescriptorSupport.tcp(loop);
      Arena closed = Arena.ofShared();
      var read = pair.first().readSome(closed.allocate(8));
      closed.close();
      var reading = start(read);
      loop.runUntilEmpty();
      assertThat(reading.done()).isTrue();
      assertThat(reading.operation.error()).isInstanceOf(IllegalStateException.class);
      pair.first().close();
      pair.second().close();
    }
  }
}
