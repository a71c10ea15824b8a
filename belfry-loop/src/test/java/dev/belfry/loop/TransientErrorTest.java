package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.bytes;
import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.read;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.start;
import static dev.belfry.loop.DescriptorSupport.tcp;
import static dev.belfry.loop.DescriptorSupport.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Message;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Sys;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.NeedsIoUring;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Errors that callers must not see. */
final class TransientErrorTest {
  private static final List<String> INTERRUPTIBLE =
      List.of(
          "read",
          "write",
          "readv",
          "writev",
          "pread",
          "pwrite",
          "send",
          "recv",
          "sendmsg",
          "recvmsg",
          "accept4",
          "openat2",
          "epollPwait2",
          "epollWait",
          "ioUringEnter",
          "eventfd");

  /** Calls that may report that they would have to wait. */
  private static final List<String> WAITING =
      List.of(
          "read", "write", "readv", "writev", "pread", "pwrite", "send", "recv", "sendmsg",
          "recvmsg", "accept4");

  private final Arena arena = Arena.ofAuto();

  @TempDir Path directory;

  // r[verify loop.err.transient]
  @EveryBackend
  void interruptedCallsAreRepeated(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      for (String call : INTERRUPTIBLE) {
        // Every second call from here on.
        tapped.tap.script(
            call, (nth, _) -> nth % 2 == 1 ? OptionalLong.of(-Errno.EINTR) : OptionalLong.empty());
        tapped.requests.answer(call, nth -> nth % 2 == 1 ? -Errno.EINTR : null);
      }
      useEverything(tapped);
    }
  }

  // r[verify loop.err.transient]
  @EveryBackend
  void callsThatWouldWaitAreTriedAgain(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      // The first attempt finds nothing in any case: the registration reports readiness.
      for (String call : WAITING) {
        tapped.failFirst(call, 1, Errno.EAGAIN);
      }
      useEverything(tapped);
      assertThat(tapped.calls("recv")).isPositive();
    }
  }

  // r[verify loop.err.transient]
  @ParameterizedTest
  @NeedsIoUring
  @ValueSource(ints = {Errno.EAGAIN, Errno.EBUSY})
  void whatTheRingDoesNotTakeIsHandedOverAgain(int shortage) throws IOException {
    try (var tapped = new Tapped(Backend.IO_URING)) {
      tapped.tap.script(
          "ioUringEnter",
          (nth, _) -> nth % 3 == 0 ? OptionalLong.empty() : OptionalLong.of(-shortage));
      useEverything(tapped);
    }
  }

  /** A kernel short of memory consumes one request, and then does not wait. */
  private static OptionalLong takeOne(Object[] enter) {
    if ((int) enter[1] <= 1) {
      return OptionalLong.empty();
    }
    return OptionalLong.of(
        Sys.forAnyThread()
            .ioUringEnter(
                (int) enter[0], 1, 0, (int) enter[3], (MemorySegment) enter[4], (long) enter[5]));
  }

  // r[verify loop.err.transient]
  @ParameterizedTest
  @NeedsIoUring
  @ValueSource(booleans = {true, false})
  void aLoopDoesNotSleepOnWhatTheRingHasNotTaken(boolean takesOne) throws Exception {
    SysTap tap = LoopSupport.tap();
    try (var driven = LoopSupport.Driven.of(LoopSupport.open(Backend.IO_URING, tap))) {
      EventLoop loop = driven.loop();
      var pairs = new ArrayList<StreamSocket.Pair>();
      for (int i = 0; i < 10; i++) {
        pairs.add(StreamSocket.pair(loop, loop));
      }
      driven.asleep();
      tap.script(
          "ioUringEnter",
          (nth, enter) -> takesOne || nth > 100 ? takeOne(enter) : OptionalLong.of(-Errno.EAGAIN));
      var reads = new ArrayList<CompletableFuture<Integer>>();
      loop.scheduler()
          .execute(
              () -> {
                for (var pair : pairs) {
                  start(pair.first().writeAll(bytes(arena, "short")));
                  reads.add(pair.second().readSome(arena.allocate(9)).toFuture());
                }
              });
      LoopSupport.get(loop.scheduler().schedule().toFuture());
      for (var read : reads) {
        assertThat(LoopSupport.get(read)).isEqualTo(5);
      }
      pairs.forEach(pair -> close(pair.first(), pair.second()));
    }
  }

  private void useEverything(Tapped tapped) throws IOException {
    EventLoop loop = tapped.loop;
    var tcp = tcp(loop);
    tcp.first().close();
    tcp.second().close();
    // New sockets for each step: on a registered one, a false EAGAIN would be a lost event.
    var pair = StreamSocket.pair(loop, loop);
    write(loop, pair.first(), "bytes");
    assertThat(read(loop, pair.second())).isEqualTo("bytes");
    close(pair.first(), pair.second());

    pair = StreamSocket.pair(loop, loop);
    result(loop, pair.first().writeSome(List.of(bytes(arena, "two"), bytes(arena, "pieces"))));
    assertThat(result(loop, pair.second().readSome(List.of(arena.allocate(20))))).isEqualTo(9);
    var message = new Message(arena, 1, 0);
    message.data().add(bytes(arena, "message"));
    assertThat(result(loop, pair.first().send(message))).isEqualTo(7);
    assertThat(result(loop, pair.second().receive(message))).isEqualTo(7);
    close(pair.first(), pair.second());

    var pipe = Descriptor.pipe(loop);
    write(loop, pipe.writer(), "pipe");
    assertThat(read(loop, pipe.reader())).isEqualTo("pipe");
    close(pipe.reader(), pipe.writer());
    pipe = Descriptor.pipe(loop);
    result(loop, pipe.writer().writeSome(List.of(bytes(arena, "a"), bytes(arena, "b"))));
    assertThat(result(loop, pipe.reader().readSome(List.of(arena.allocate(9))))).isEqualTo(2);
    close(pipe.reader(), pipe.writer());

    Path path = Files.createTempFile(directory, "file", null);
    RegularFile file = result(loop, RegularFile.open(loop, path, OpenFlags.READ_WRITE, 0));
    assertThat(result(loop, file.writeAt(bytes(arena, "file"), 0))).isEqualTo(4);
    assertThat(result(loop, file.readAt(arena.allocate(9), 0))).isEqualTo(4);
    assertThat(read(loop, file)).isEqualTo("file");
    file.close();

    var timer = start(loop.scheduler().after(Duration.ofMillis(2)));
    drive(loop, timer::done);
    assertThat(timer.outcome()).isEqualTo(Outcome.VALUE);
  }

  private static void close(Handle first, Handle second) {
    first.close();
    second.close();
  }

  // r[verify loop.err.transient]
  @EveryBackend
  void aWakeUpThatIsInterruptedStillWakes(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    try (var driven = LoopSupport.Driven.of(LoopSupport.open(backend, tap))) {
      driven.asleep();
      tap.failFirst("write", 3, Errno.EINTR);
      LoopSupport.get(driven.scheduler().schedule().toFuture());
      assertThat(driven.loop().metrics().wakeUpsSent()).isPositive();
    }
  }
}
