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
import dev.belfry.linux.Facilities;
import dev.belfry.linux.IoUring;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.SubmissionQueue;
import dev.belfry.loop.DescriptorSupport.Probe;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.NeedsIoUring;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is particular to io_uring; the matrix covers what it shares with the other backends. */
@NeedsIoUring
final class UringTest {
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
        EventLoop.open(LoopOptions.DEFAULT.withIoUringPreferred().withSystemCalls(tap.sys()))) {
      assertThat(loop.backend()).isEqualTo(Backend.EPOLL);
      assertThat(result(loop, loop.scheduler().schedule())).isNull();
    }
    assertThat(before.openedSince()).isEmpty();
    try (EventLoop loop = EventLoop.open(LoopOptions.DEFAULT.withIoUringPreferred())) {
      assertThat(loop.backend()).isEqualTo(Backend.IO_URING);
    }
  }

  // Regression: the machine was reported to have io_uring although no loop could open one.
  // r[verify loop.backend.surface]
  @Test
  void aKernelThatStopsAtTheFirstRequestThatFailsIsTooOld() {
    int submitAll = 1 << 7; // Linux 5.18
    SysTap tap = LoopSupport.tap();
    tap.script(
        "ioUringSetup",
        (_, arguments) -> {
          int flags = ((MemorySegment) arguments[1]).get(ValueLayout.JAVA_INT, 8);
          boolean known = (flags & submitAll) == 0;
          return known ? OptionalLong.empty() : OptionalLong.of(-Errno.EINVAL);
        });
    String tooOld = "the kernel is too old for it";
    assertThat(IoUring.unavailabilityCause(tap.sys()).orElseThrow()).contains(tooOld);
    assertThat(Facilities.probe(tap.sys()))
        .filteredOn(facility -> facility.name().equals("io_uring"))
        .singleElement()
        .satisfies(facility -> assertThat(facility.cause()).contains(tooOld));
  }

  // A buffer ring must begin on a page boundary, and the largest pages are 64 KiB.
  @Test
  void buffersAreRegisteredOnPagesOfAnySize() throws IOException {
    int registerBuffers = 22;
    var addresses = new ArrayList<Long>();
    try (var tapped = new Tapped(Backend.IO_URING)) {
      tapped.tap.script(
          "ioUringRegister",
          (_, arguments) -> {
            if ((int) arguments[1] == registerBuffers) {
              addresses.add(((MemorySegment) arguments[2]).get(ValueLayout.JAVA_LONG, 0));
            }
            return OptionalLong.empty();
          });
      var pair = tcp(tapped.loop);
      send(pair.second(), "x");
      result(tapped.loop, pair.first().readSome(arena.allocate(1)));
      Facilities.probe(tapped.tap.sys());
      tapped.tap.pass("ioUringRegister");
      pair.first().close();
      pair.second().close();
    }
    assertThat(addresses).hasSize(2).allMatch(address -> address % 65_536 == 0);
  }

  // Regression: the error propagated through the loop, which then neither ran nor could be closed:
  // it waited for the kernel to return a request that it had never received.
  @Test
  void aRequestForWhichThereIsNoMemoryHarmsNoOther() throws IOException {
    SysTap tap = LoopSupport.tap();
    tap.script(
        "ioUringRegister",
        (_, _) -> {
          throw new Error("no room for buffers, as when memory runs out");
        });
    EventLoop loop = LoopSupport.open(Backend.IO_URING, tap);
    var pair = tcp(loop);
    var read = start(pair.first().readSome(arena.allocate(8)));
    loop.runUntilEmpty();
    send(pair.second(), "x");
    drive(loop, read::done);
    assertThat(read.value()).isEqualTo(1); // without the loop's buffers
    pair.first().close();
    pair.second().close();
    loop.close();
  }

  @Test
  void noRequestHasTheTokenOfThoseThatNobodyWaitsFor() {
    var table = new UringTable();
    var requests = new ArrayList<UringRequest>();
    for (int i = 0; i < 2 * SlotTable.ROOM; i++) {
      var request = new Unused();
      requests.add(request);
      assertThat(table.add(request)).isNotZero();
    }
    for (UringRequest request : requests) {
      long token = table.token(request);
      assertThat(table.find(token)).isSameAs(request);
      table.remove(request);
      assertThat(table.find(token)).isNull();
      assertThat(request.isWithKernel()).isFalse();
    }
    assertThat(table.size()).isZero();
  }

  // Unprivileged users may lock only a few megabytes, and closed rings count until the kernel has
  // freed them. Regression: opening a loop right after closing fifty failed for lack of memory.
  @Test
  void memoryThatClosedRingsAreAboutToGiveBackIsWaitedFor() throws IOException {
    SysTap tap = LoopSupport.tap();
    tap.script(
        "ioUringSetup",
        (nth, _) -> nth <= 3 ? OptionalLong.of(-Errno.ENOMEM) : OptionalLong.empty());
    try (EventLoop loop = LoopSupport.open(Backend.IO_URING, tap)) {
      assertThat(result(loop, loop.scheduler().schedule())).isNull();
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

  /** A ring so small that most completions find no room. */
  private static Tapped tiny() throws IOException {
    return new Tapped(LoopOptions.DEFAULT.withBackend(Backend.IO_URING)) {
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

  // r[verify loop.backend.single]
  @Test
  void whatOneThreadHasBegunAnotherGoesOnWith() throws Exception {
    try (EventLoop loop = EventLoop.open(Backend.IO_URING)) {
      var unix = StreamSocket.pair(loop, loop);
      var inet = tcp(loop);
      var first = start(unix.first().readSome(arena.allocate(8)));
      var second = start(inet.first().readSome(arena.allocate(8)));
      LoopSupport.join(Thread.ofPlatform().start(() -> runUntilEmpty(loop)));
      // The thread that submitted them has ended, and with it its requests.
      send(unix.second(), "one");
      drive(loop, first::done);
      assertThat(first.value()).isEqualTo(3);

      // To a staying thread, and back.
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

  // Regression: a connect moved to another ring was submitted once more, and failed because it was
  // under way already.
  // r[verify loop.connect]
  @Test
  void aConnectUnderWayGoesOnWhicheverThreadDrives() throws Exception {
    try (EventLoop loop = EventLoop.open(Backend.IO_URING)) {
      var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
      Acceptor acceptor = Acceptor.open(loop, address, 0);
      var clients = new ArrayList<StreamSocket>();
      var connecting = startConnect(loop, acceptor, clients);
      while (connecting.done()) { // until the listener's queue is full
        connecting = startConnect(loop, acceptor, clients);
      }
      Probe<StreamSocket> connect = connecting;
      assertThat(clients).hasSizeGreaterThan(1);

      // To a staying thread, back, and to a thread that ends.
      var stop = new StopSource();
      Driven driven = Driven.of(loop, RunMode.STOPPED, stop.token()).asleep();
      assertThat(connect.done()).isFalse();
      stop.requestStop();
      assertThat(driven.joined()).isEqualTo(Outcome.STOPPED);
      LoopSupport.join(Thread.ofPlatform().start(() -> runUntilEmpty(loop)));
      loop.runUntilEmpty();
      assertThat(connect.done()).isFalse();

      for (int i = 0; i < clients.size(); i++) { // makes room
        result(loop, acceptor.accept()).close();
      }
      drive(loop, connect::done);
      assertThat(connect.value()).isSameAs(clients.getLast());
      clients.forEach(Handle::close);
      acceptor.close();
    }
  }

  /** Starts a connect and gives it enough time to complete, if there is room for it. */
  private static Probe<StreamSocket> startConnect(
      EventLoop loop, Acceptor acceptor, List<StreamSocket> clients) throws IOException {
    StreamSocket client = StreamSocket.open(loop, StandardProtocolFamily.INET);
    clients.add(client);
    Probe<StreamSocket> connect = start(client.connect(acceptor.localAddress()));
    for (int turn = 0; turn < 20 && !connect.done(); turn++) {
      loop.runSome(Duration.ofMillis(5));
    }
    return connect;
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
      content[i] = StreamPattern.at(i);
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
      StreamPattern.check(memory, content.length, 0);
      file.close();
    }
  }

  // Regression: it failed with the errno of the ring, as if its own call had failed.
  // r[verify loop.err.unexpected]
  @Test
  void whatARingThatFailedHadDoesNotFailWithTheErrnoOfTheRing() throws IOException {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(Backend.IO_URING, tap)) {
      Acceptor acceptor =
          Acceptor.open(loop, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      var accept = start(acceptor.accept());
      loop.scheduler()
          .after(Duration.ofMillis(1))
          .start(_ -> tap.fail("ioUringEnter", Errno.EBADF)); // the kernel has the accept by then
      assertThatExceptionOfType(ErrnoException.class).isThrownBy(loop::run);
      tap.pass("ioUringEnter");
      drive(loop, accept::done);
      assertThat(accept.errno()).isEqualTo(Errno.EIO);
      acceptor.close();
    }
  }

  // Regression: the address stayed in the ring, and data was written to freed memory.
  // r[verify loop.err.transient]
  @Test
  void whatTheKernelHasNotTakenNamesNoMemoryThatWasFreed() throws IOException {
    SysTap tap = LoopSupport.tap();
    try (EventLoop loop = LoopSupport.open(Backend.IO_URING, tap)) {
      var pair = StreamSocket.pair(loop, loop);
      DescriptorSupport.write(loop, pair.first(), "late");
      Probe<Integer> read;
      try (Arena freed = Arena.ofShared()) {
        tap.fail("ioUringEnter", Errno.EAGAIN);
        read = start(pair.second().readSome(freed.allocate(8)));
        loop.runSome();
      }
      tap.pass("ioUringEnter");
      drive(loop, read::done);
      assertThat(read.operation.error()).isInstanceOf(IllegalStateException.class);
      assertThat(DescriptorSupport.read(loop, pair.second())).isEqualTo("late");
      pair.first().close();
      pair.second().close();
    }
  }

  /** A request that is never made. */
  private static final class Unused extends UringRequest {
    Unused() {
      super(null);
    }

    @Override
    void prepare(SubmissionQueue queue, long token) {}

    @Override
    void completed(int result, int flags) {}

    @Override
    void failed(Throwable failure) {}
  }
}
