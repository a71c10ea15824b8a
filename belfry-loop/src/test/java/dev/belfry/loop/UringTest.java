package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.bytes;
import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.send;
import static dev.belfry.loop.DescriptorSupport.start;
import static dev.belfry.loop.DescriptorSupport.tcp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Message;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Sys;
import dev.belfry.loop.DescriptorSupport.Probe;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is particular to io_uring; what it has in common with the others is shown by the matrix. */
final class UringTest {
  private static final Sys SYS = Sys.forAnyThread();

  private final Arena arena = Arena.ofAuto();

  @TempDir Path directory;

  // r[verify loop.backend.surface]
  @ParameterizedTest
  @ValueSource(ints = {Errno.EPERM, Errno.ENOSYS, Errno.ENOMEM})
  void aRefusalFailsWhoInsistsAndTurnsWhoPrefersItToEpoll(int errno) throws IOException {
    Descriptors before = Descriptors.now();
    SysTap tap = LoopSupport.tap();
    tap.fail("ioUringSetup", errno);
    assertThatExceptionOfType(ErrnoException.class)
        .isThrownBy(() -> LoopSupport.open(Backend.IO_URING, tap))
        .satisfies(e -> assertThat(e.errno()).isEqualTo(errno))
        .withMessageContaining(
            switch (errno) {
              case Errno.EPERM -> "seccomp";
              case Errno.ENOSYS -> "too old";
              default -> "ulimit -l";
            });
    try (EventLoop loop =
        EventLoop.open(LoopOptions.DEFAULT.preferIoUring().systemCalls(tap.sys()))) {
      assertThat(loop.backend()).isEqualTo(Backend.EPOLL);
      assertThat(result(loop, loop.scheduler().schedule())).isNull();
    }
    assertThat(before.openedSince()).isEmpty();
    try (EventLoop loop = EventLoop.open(LoopOptions.DEFAULT.preferIoUring())) {
      assertThat(loop.backend()).isEqualTo(Backend.IO_URING);
    }
  }

  @Test
  void aThreadThatCannotHaveARingOfItsOwnUsesTheSharedOne() throws Exception {
    SysTap tap = LoopSupport.tap();
    EventLoop loop = LoopSupport.open(Backend.IO_URING, tap);
    tap.fail("ioUringSetup", Errno.ENOMEM);
    try (Driven driven = Driven.of(loop)) {
      var pair = StreamSocket.pair(loop, loop);
      var reading = pair.first().readSome(arena.allocate(8)).toFuture();
      driven.asleep();
      send(pair.second(), "x");
      assertThat(LoopSupport.get(reading)).isEqualTo(1);
      pair.first().close();
      pair.second().close();
    }
  }

  @Test
  void allThatATurnStartsIsHandedOverByTheCallThatWaits() throws IOException {
    try (var tapped = new Tapped(Backend.IO_URING)) {
      EventLoop loop = tapped.loop;
      var pairs = new ArrayList<StreamSocket.Pair>();
      var probes = new ArrayList<Probe<Integer>>();
      for (int i = 0; i < 50; i++) {
        pairs.add(StreamSocket.pair(loop, loop));
        probes.add(start(pairs.getLast().first().writeSome(bytes(arena, "x"))));
      }
      long calls = tapped.tap.calls("ioUringEnter");
      loop.runSome();
      assertThat(tapped.tap.calls("ioUringEnter")).isEqualTo(calls + 1);
      assertThat(probes).allMatch(Probe::done);
      assertThat(tapped.calls("send")).isEqualTo(50);
      for (var pair : pairs) {
        pair.first().close();
        pair.second().close();
      }
    }
  }

  // r[verify loop.fd.close]
  @Test
  void aDescriptorIsClosedWhenTheKernelHasGivenItsRequestsBack() throws IOException {
    try (var tapped = new Tapped(Backend.IO_URING)) {
      EventLoop loop = tapped.loop;
      var pair = StreamSocket.pair(loop, loop);
      var parked = start(pair.first().readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      int number = pair.first().descriptor();
      var cancelledAtClose = new ArrayList<Long>();
      tapped.tap.script(
          "close",
          (_, arguments) -> {
            if ((int) arguments[0] == number) {
              cancelledAtClose.add(tapped.calls("cancel"));
            }
            return OptionalLong.empty();
          });
      pair.first().close();
      loop.runUntilEmpty();
      assertThat(parked.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(cancelledAtClose).containsExactly(1L);
      tapped.tap.pass("close");
      pair.second().close();
    }
  }

  /** A ring so small that most completions find no room in it. */
  private static Tapped tiny() throws IOException {
    return new Tapped(LoopOptions.DEFAULT.backend(Backend.IO_URING)) {
      @Override
      void prepare() {
        tap.script(
            "ioUringSetup",
            (_, arguments) -> {
              MemorySegment params = (MemorySegment) arguments[1];
              params.set(ValueLayout.JAVA_INT, 4, 4); // completions
              return OptionalLong.of(requests.sys().ioUringSetup(2, params));
            });
      }
    };
  }

  @Test
  void completionsThatFindNoRoomAreNotLost() throws IOException {
    try (Tapped tapped = tiny()) {
      EventLoop loop = tapped.loop;
      var pairs = new ArrayList<StreamSocket.Pair>();
      var probes = new ArrayList<Probe<Integer>>();
      for (int i = 0; i < 200; i++) {
        var pair = StreamSocket.pair(loop, loop);
        pairs.add(pair);
        probes.add(start(pair.first().readSome(arena.allocate(8))));
      }
      loop.runUntilEmpty();
      pairs.forEach(pair -> send(pair.second(), "now")); // two hundred events at once
      drive(loop, () -> probes.stream().allMatch(Probe::done));
      for (var probe : probes) {
        assertThat(probe.value()).isEqualTo(3);
        assertThat(probe.count()).isEqualTo(1);
      }
      for (var pair : pairs) {
        pair.first().close();
        pair.second().close();
      }
      loop.runUntilEmpty();
    }
  }

  @Test
  void aReadForWhichThereIsNoBufferUsesItsOwnMemory() throws IOException {
    try (var tapped = new Tapped(Backend.IO_URING)) {
      EventLoop loop = tapped.loop;
      var pair = tcp(loop);
      tapped.failFirst("recv", 1, Errno.ENOBUFS);
      var reading = start(pair.first().readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      assertThat(reading.done()).isFalse();
      assertThat(tapped.calls("recv")).isEqualTo(2); // without a buffer, then it would wait
      send(pair.second(), "x");
      drive(loop, reading::done);
      assertThat(reading.value()).isEqualTo(1);
      pair.first().close();
      pair.second().close();
    }
  }

  /** The byte at a place of the stream that tests send. */
  private static byte at(long place) {
    return (byte) (place * 31 + (place >> 8));
  }

  /** Sends on without end of the stream, as far as it fits; where it has come. */
  private long sendOn(StreamSocket socket, long from, long atMost) {
    MemorySegment some = arena.allocate(atMost);
    for (long i = 0; i < atMost; i++) {
      some.set(ValueLayout.JAVA_BYTE, i, at(from + i));
    }
    long sent = SYS.send(socket.descriptor(), some, atMost, 0x40 /* MSG_DONTWAIT */);
    return sent < 0 ? from : from + sent;
  }

  private static void check(MemorySegment memory, int length, long place) {
    for (int i = 0; i < length; i++) {
      if (memory.get(ValueLayout.JAVA_BYTE, i) != at(place + i)) {
        throw new AssertionError("wrong byte at " + (place + i));
      }
    }
  }

  // The kernel's buffers are overwritten as soon as they are given back.
  @Test
  void whateverReadsItTheStreamStaysInOrder() throws IOException {
    try (EventLoop loop = EventLoop.open(Backend.IO_URING)) {
      var pair = tcp(loop);
      StreamSocket ours = pair.first();
      var random = new Random(9);
      long sent = 0;
      long read = 0;
      for (int i = 0; i < LoopSupport.rounds(3_000, 30_000); i++) {
        sent = sendOn(pair.second(), sent, 1 + random.nextInt(9_000));
        loop.runUntilEmpty(); // some of it is received ahead
        int size = 1 + random.nextInt(random.nextBoolean() ? 100 : 20_000);
        MemorySegment memory = arena.allocate(size);
        int count =
            switch (random.nextInt(4)) {
              case 0 -> result(loop, ours.readSome(memory));
              case 1 -> result(loop, ours.readAll(memory.asSlice(0, Math.min(size, sent - read))));
              case 2 -> {
                int half = size / 2;
                yield result(
                    loop, ours.readSome(List.of(memory.asSlice(0, half), memory.asSlice(half))));
              }
              default -> {
                var message = new Message(arena, 1, 1);
                message.data().add(memory);
                yield result(loop, ours.receive(message));
              }
            };
        assertThat(count).isPositive();
        check(memory, count, read);
        read += count;
        while (sent - read > 60_000 || (sent > read && random.nextInt(3) == 0)) {
          MemorySegment rest = arena.allocate(30_000);
          int more = result(loop, ours.readSome(rest));
          check(rest, more, read);
          read += more;
        }
        if (sent == read) {
          sent = sendOn(pair.second(), sent, 1);
        }
      }
      ours.close();
      pair.second().close();
    }
  }

  @Test
  void manyWhoDoNotReadLeaveBuffersToOneWhoDoesAndLoseNothing() throws IOException {
    try (EventLoop loop = EventLoop.open(Backend.IO_URING)) {
      var idle = new ArrayList<StreamSocket.Pair>();
      for (int i = 0; i < 60; i++) {
        var pair = tcp(loop);
        idle.add(pair);
        send(pair.second(), "x");
        assertThat(result(loop, pair.first().readSome(arena.allocate(1)))).isEqualTo(1);
      }
      var sent = new ArrayList<Long>();
      for (var pair : idle) {
        long place = 0;
        for (int i = 0; i < 10; i++) {
          place = sendOn(pair.second(), place, 4_000);
          loop.runUntilEmpty();
        }
        sent.add(place);
      }
      var busy = tcp(loop);
      for (int i = 0; i < 20; i++) {
        send(busy.second(), "answer me");
        assertThat(result(loop, busy.first().readSome(arena.allocate(64)))).isEqualTo(9);
      }
      for (int i = 0; i < idle.size(); i++) {
        long place = 0;
        while (place < sent.get(i)) {
          MemorySegment memory = arena.allocate(1_000);
          int count = result(loop, idle.get(i).first().readSome(memory));
          check(memory, count, place);
          place += count;
        }
      }
      idle.add(busy);
      for (var pair : idle) {
        pair.first().close();
        pair.second().close();
      }
    }
  }

  @Test
  void whoeverSendsToOneWhoDoesNotReadHasToWait() throws IOException {
    try (var tapped = new Tapped(Backend.IO_URING)) {
      EventLoop loop = tapped.loop;
      var pair = tcp(loop);
      send(pair.second(), "x");
      assertThat(result(loop, pair.first().readSome(arena.allocate(1)))).isEqualTo(1);
      long sent = 0;
      long before;
      int refused = 0;
      do {
        before = sent;
        sent = sendOn(pair.second(), sent, 100_000);
        loop.runUntilEmpty();
        refused = before == sent ? refused + 1 : 0;
        assertThat(sent).isLessThan(64 << 20);
      } while (refused < 100);
      // And takes no buffers away from others: one request still serves all reads.
      var busy = tcp(loop);
      long requests = tapped.calls("recv");
      for (int i = 0; i < 20; i++) {
        send(busy.second(), "answer me");
        assertThat(result(loop, busy.first().readSome(arena.allocate(64)))).isEqualTo(9);
      }
      assertThat(tapped.calls("recv")).isEqualTo(requests + 1);
      busy.first().close();
      busy.second().close();
      pair.first().close();
      pair.second().close();
    }
  }

  @Test
  void theEndComesAfterAllThatWasReceivedAhead() throws IOException {
    var options = LoopOptions.DEFAULT.backend(Backend.IO_URING).perTurn(1 << 20, 1);
    try (EventLoop loop = EventLoop.open(options)) {
      var pair = tcp(loop);
      var probes = new ArrayList<Probe<Integer>>();
      for (int i = 0; i < 4; i++) {
        probes.add(start(pair.first().readSome(arena.allocate(1)))); // one in each turn
      }
      send(pair.second(), "abc");
      pair.second().shutdownWrite();
      drive(loop, probes.getLast()::done);
      var counts = new ArrayList<Integer>();
      for (var probe : probes) {
        counts.add(probe.value());
      }
      assertThat(counts).containsExactly(1, 1, 1, TransferOperation.END_OF_FILE);
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.backend.single]
  @Test
  void whatOneThreadHasBegunAnotherGoesOnWith() throws Exception {
    try (EventLoop loop = EventLoop.open(Backend.IO_URING)) {
      var unix = StreamSocket.pair(loop, loop);
      var inet = tcp(loop);
      var first = start(unix.first().readSome(arena.allocate(8)));
      var second = start(inet.first().readSome(arena.allocate(8)));
      LoopSupport.join(Thread.ofPlatform().start(() -> runUntilEmpty(loop)));
      // The thread that gave them to the kernel has ended, and with it its requests.
      send(unix.second(), "one");
      drive(loop, first::done);
      assertThat(first.value()).isEqualTo(3);

      // To a thread that stays, and back.
      var stop = new StopSource();
      var third = start(unix.first().readSome(arena.allocate(8)));
      var running = new CompletableFuture<Outcome>();
      Thread driver =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      running.complete(loop.run(RunMode.STOPPED, stop.token()));
                    } catch (IOException e) {
                      running.completeExceptionally(e);
                    }
                  });
      send(inet.second(), "two");
      LoopSupport.await(second::done);
      assertThat(second.value()).isEqualTo(3);
      assertThat(second.thread()).isSameAs(driver);
      stop.requestStop();
      assertThat(LoopSupport.get(running)).isEqualTo(Outcome.STOPPED);
      LoopSupport.join(driver);
      send(unix.second(), "three");
      drive(loop, third::done);
      assertThat(third.value()).isEqualTo(5);
      for (var pair : new StreamSocket.Pair[] {unix, inet}) {
        pair.first().close();
        pair.second().close();
      }
    }
  }

  private static void runUntilEmpty(EventLoop loop) {
    try {
      loop.runUntilEmpty();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  // r[verify loop.op.regular-file]
  @Test
  void placesOfAFileAreReadAtTheSameTime() throws IOException {
    Path path = directory.resolve("file");
    byte[] content = new byte[1 << 20];
    for (int i = 0; i < content.length; i++) {
      content[i] = at(i);
    }
    Files.write(path, content);
    try (var tapped = new Tapped(Backend.IO_URING)) {
      EventLoop loop = tapped.loop;
      RegularFile file = result(loop, RegularFile.open(loop, path, OpenFlags.READ_ONLY, 0));
      MemorySegment memory = arena.allocate(content.length);
      var probes = new ArrayList<Probe<Integer>>();
      int size = 4096;
      for (long place = 0; place < content.length; place += size) {
        probes.add(start(file.readAt(memory.asSlice(place, size), place)));
      }
      long calls = tapped.tap.calls("ioUringEnter");
      drive(loop, () -> probes.stream().allMatch(Probe::done));
      assertThat(tapped.tap.calls("ioUringEnter") - calls).isLessThan(probes.size() / 4);
      assertThat(probes).allMatch(probe -> probe.outcome() == Outcome.VALUE);
      check(memory, content.length, 0);
      file.close();
    }
  }
}
