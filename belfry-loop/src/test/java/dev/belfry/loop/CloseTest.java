package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.errno;
import static dev.belfry.loop.DescriptorSupport.onLoop;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.send;
import static dev.belfry.loop.DescriptorSupport.start;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Epoll;
import dev.belfry.linux.Errno;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.Message;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.loop.LoopSupport.EveryEpoll;
import dev.belfry.testkit.Descriptors;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a handle owns, and what happens to it on close. */
final class CloseTest {
  private static final int EPOLL_CTL_DEL = 2;

  private final Arena arena = Arena.ofAuto();

  @TempDir Path directory;

  // r[verify loop.fd.close]
  @EveryBackend
  void whatWaitsIsStoppedAndWhatComesLaterIsTold(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = StreamSocket.pair(loop, loop);
      var first = start(pair.first().readSome(arena.allocate(8)));
      var second = start(pair.first().readAll(arena.allocate(8)));
      loop.runUntilEmpty();
      pair.first().close();
      drive(loop, second::done);
      assertThat(first.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(second.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(pair.first().isClosed()).isTrue();
      var message = new Message(arena, 1, 0);
      for (Operation<?> late :
          List.of(
              pair.first().readSome(arena.allocate(8)),
              pair.first().writeAll(arena.allocate(8)),
              pair.first().readSome(MemorySegment.NULL),
              pair.first().send(message),
              pair.first().receive(message),
              pair.first().connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1)))) {
        assertThat(errno(loop, late)).as(late.toString()).isEqualTo(Errno.EBADF);
      }
      pair.second().close();
    }
  }

  // Regression: a coroutine that blocked on a token's lock during a close let the loop end another
  // operation meanwhile. On io_uring that one then ended a second time, and others never.
  // r[verify loop.fd.close] r[verify loop.backend.single-shot]
  @EveryBackend
  void whatEndsWhileACloseWaitsForALockEndsOnce(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      var pair = StreamSocket.pair(loop, loop);
      StopToken token = new StopSource().token();
      // Both orders: epoll ends the first operation first, io_uring the last.
      var outer = start(pair.first().readSome(arena.allocate(8)), token);
      var inner = start(pair.first().readSome(arena.allocate(8)));
      var other = start(pair.first().readSome(arena.allocate(8)));
      var last = start(pair.first().readSome(arena.allocate(8)), token);
      driven.asleep();
      Coroutine<Void> closing;
      synchronized (token) {
        closing = loop.spawn("closing", pair.first()::close);
        LoopSupport.await(() -> closing.thread().getState() == Thread.State.BLOCKED);
        inner.operation.cancel();
        other.operation.cancel();
        LoopSupport.await(() -> inner.done() && other.done());
      }
      LoopSupport.get(closing.result());
      LoopSupport.await(() -> outer.done() && last.done());
      driven.asleep();
      for (var probe : List.of(outer, inner, other, last)) {
        assertThat(probe.count()).isEqualTo(1);
        assertThat(probe.outcome()).isEqualTo(Outcome.STOPPED);
      }
      var inFlight = new CompletableFuture<Long>();
      loop.scheduler().execute(() -> inFlight.complete(loop.inFlight()));
      assertThat(LoopSupport.get(inFlight)).isZero();
      pair.second().close();
    }
  }

  // r[verify loop.fd.close]
  @EveryEpoll
  void aDescriptorLeavesEpollBeforeItIsClosed(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var pair = StreamSocket.pair(loop, loop);
      start(pair.first().readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      int number = pair.first().descriptor();
      var order = new ArrayList<String>();
      tapped.tap.script(
          "epollCtl",
          (_, arguments) -> {
            if ((int) arguments[1] == EPOLL_CTL_DEL) {
              order.add("delete " + arguments[2]);
            }
            return OptionalLong.empty();
          });
      tapped.tap.script(
          "close",
          (_, arguments) -> {
            order.add("close " + arguments[0]);
            return OptionalLong.empty();
          });
      pair.first().close();
      drive(loop, pair.first()::isClosed);
      assertThat(order).containsExactly("delete " + number, "close " + number);
      pair.second().close(); // was never registered
      drive(loop, pair.second()::isClosed);
      assertThat(order).hasSize(3);
    }
  }

  // r[verify loop.fd.close] r[verify loop.epoll.data]
  @EveryEpoll
  void aNewDescriptorWithTheSameNumberGetsNoEventOfTheOld(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var old = StreamSocket.pair(loop, loop);
      var parked = start(old.first().readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      int number = old.first().descriptor();
      long token = tapped.watched(number).data();
      assertThat(token >>> 32).isEqualTo(old.first().slot);

      // Events of the old socket are pending when it is closed and its number is reused.
      send(old.second(), "for the old one");
      var young = new ArrayList<StreamSocket.Pair>();
      onLoop(
          loop,
          () -> {
            old.first().close();
            young.add(StreamSocket.pair(loop, loop));
          });
      drive(loop, parked::done);
      StreamSocket same = young.getFirst().first();
      assertThat(same.descriptor()).isEqualTo(number);
      var reading = start(same.readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      long newToken = tapped.watched(number).data();
      assertThat(newToken >>> 32).isEqualTo(token >>> 32);
      assertThat((int) newToken).isEqualTo((int) token + 1);

      // The kernel does not report the old token any more, so the tap does.
      long receives = tapped.tap.calls("recv");
      tapped.tap.script(
          tapped.waitCall(),
          (nth, arguments) -> {
            if (nth > 1) {
              return OptionalLong.empty();
            }
            putEvent((MemorySegment) arguments[1], Epoll.IN | Epoll.HUP, token);
            return OptionalLong.of(1);
          });
      loop.runSome();
      assertThat(tapped.tap.calls("recv")).isEqualTo(receives);
      assertThat(reading.done()).isFalse();
      assertThat(same.moreAfterShortRead).isFalse();
      tapped.tap.pass(tapped.waitCall());
      send(young.getFirst().second(), "new");
      drive(loop, reading::done);
      assertThat(reading.value()).isEqualTo(3);
      old.second().close();
      same.close();
      young.getFirst().second().close();
    }
  }

  /** Writes an event as the kernel does; packed only on x86-64. */
  private static void putEvent(MemorySegment batch, int events, long token) {
    boolean packed = System.getProperty("os.arch").equals("amd64");
    batch.set(ValueLayout.JAVA_INT_UNALIGNED, 0, events);
    batch.set(
        ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.nativeOrder()), packed ? 4 : 8, token);
  }

  // r[verify loop.epoll.data]
  @Test
  void aSlotWhoseGenerationsAreUsedUpIsRetired() throws IOException {
    try (EventLoop loop = EventLoop.open()) {
      var pair = StreamSocket.pair(loop, loop);
      var table = new HandleTable();
      StreamSocket handle = pair.first();
      long first = table.add(handle);
      assertThat(table.find(first)).isSameAs(handle);
      table.remove(handle);
      assertThat(table.find(first)).isNull();
      long second = table.add(handle);
      assertThat(second).isEqualTo(first + 1);
      assertThat(table.find(first)).isNull();
      table.remove(handle);
      assertThat(table.find(-1)).isNull();
      assertThat(table.find(Long.MAX_VALUE)).isNull();

      var old = new HandleTable(-1); // with the next one the generations wrap around
      long last = old.add(handle);
      assertThat((int) last).isEqualTo(-1);
      old.remove(handle);
      assertThat(old.find(last)).isNull();
      assertThat(old.find(last + 1)).isNull();
      assertThat(old.add(handle) >>> 32).isNotEqualTo(last >>> 32);
      old.remove(handle);
      handle.close();
      pair.second().close();
    }
  }

  // r[verify loop.fd.raii]
  @EveryBackend
  void eachKindOfHandleClosesItsDescriptor(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      warmUp(loop);
      Descriptors before = Descriptors.now();
      useOneOfEachKind(loop);
      loop.runUntilEmpty();
      assertThat(before.openedSince()).isEmpty();
    }
  }

  private void warmUp(EventLoop loop) throws IOException {
    useOneOfEachKind(loop);
    loop.runUntilEmpty();
  }

  private void useOneOfEachKind(EventLoop loop) throws IOException {
    Path file = Files.createTempFile(directory, "file", null);
    Path path = directory.resolve("socket");
    var tcp = DescriptorSupport.tcp(loop);
    var unix = StreamSocket.pair(loop, loop);
    var pipe = Descriptor.pipe(loop);
    try (StreamSocket _ = tcp.first();
        StreamSocket _ = tcp.second();
        StreamSocket parked = unix.first();
        StreamSocket _ = unix.second();
        Descriptor _ = pipe.reader();
        Descriptor _ = pipe.writer();
        Acceptor _ = Acceptor.open(loop, UnixDomainSocketAddress.of(path));
        DatagramSocket _ = DatagramSocket.open(loop, StandardProtocolFamily.INET);
        RegularFile _ = result(loop, RegularFile.open(loop, file, OpenFlags.READ_ONLY, 0));
        Descriptor _ =
            Descriptor.adopt(
                loop, FdFlags.duplicate(Sys.forAnyThread(), tcp.first().descriptor()));
        StandardStream _ = StandardStream.err(loop)) {
      start(parked.readSome(arena.allocate(8)));
      loop.runUntilEmpty();
    }
    unix.first().close(); // once more
  }

  // r[verify loop.fd.raii]
  @EveryBackend
  void twoThreadsThatCloseMakeOneCall(Backend backend) throws Exception {
    try (var tapped = new Tapped(backend);
        Driven driven = Driven.of(tapped.loop)) {
      for (int i = 0; i < LoopSupport.rounds(300, 3000); i++) {
        var pair = StreamSocket.pair(tapped.loop, tapped.loop);
        int number = pair.first().descriptor();
        var closes = new int[1];
        tapped.tap.script(
            "close",
            (_, arguments) -> {
              if ((int) arguments[0] == number) {
                closes[0]++;
              }
              return OptionalLong.empty();
            });
        var barrier = new CyclicBarrier(2);
        Thread other =
            Thread.ofPlatform()
                .start(
                    () -> {
                      try {
                        barrier.await();
                      } catch (Exception e) {
                        throw new AssertionError(e);
                      }
                      pair.first().close();
                    });
        barrier.await();
        pair.first().close();
        LoopSupport.join(other);
        LoopSupport.await(pair.first()::isClosed);
        // The number is in use elsewhere now, and must not be closed again.
        try (Fd reused = FdFlags.duplicate(Sys.forAnyThread(), pair.second().descriptor())) {
          pair.first().close();
          driven.scheduler().schedule().await();
          assertThat(FdFlags.isCloseOnExec(Sys.forAnyThread(), reused.number())).isTrue();
        }
        tapped.tap.pass("close");
        assertThat(closes[0]).isEqualTo(1);
        pair.second().close();
      }
    }
  }

  // r[verify loop.fd.raii]
  @EveryBackend
  void aHandleOutlivesItsLoopAndIsStillClosed(Backend backend) throws IOException {
    EventLoop loop = EventLoop.open(backend);
    var pair = StreamSocket.pair(loop, loop);
    var parked = start(pair.first().readSome(arena.allocate(8)));
    loop.runUntilEmpty();
    pair.second().close(); // posted, but no thread drives the loop
    loop.close();
    assertThat(parked.outcome()).isEqualTo(Outcome.STOPPED);
    assertThat(pair.second().isClosed()).isTrue();
    int number = pair.first().descriptor();
    pair.first().close();
    assertThat(pair.first().isClosed()).isTrue();
    try (Fd next = FdFlags.duplicate(Sys.forAnyThread(), 0)) {
      assertThat(next.number()).isLessThanOrEqualTo(number);
    }
    var late = start(pair.first().readSome(arena.allocate(8)));
    assertThat(late.outcome()).isEqualTo(Outcome.STOPPED);
  }

  /** Counts its closes. */
  private static final class Counted extends Handle {
    private int closes;

    Counted(EventLoop loop, Fd fd) {
      super(loop, fd);
    }

    @Override
    void beforeClose() {
      closes++;
    }
  }

  // Regression: a thread that closed a handle at the same moment as the loop did, and continued
  // after the loop had ended, closed it once more.
  // r[verify loop.fd.raii]
  @EveryBackend
  void aCloseThatTheEndOfTheLoopOvertakesDoesNothing(Backend backend) throws Exception {
    EventLoop loop = EventLoop.open(backend);
    var handle = new Counted(loop, FdFlags.duplicate(Sys.forAnyThread(), 0));
    Field close = Handle.class.getDeclaredField("close");
    close.setAccessible(true);
    Thread other;
    synchronized (close.get(handle)) { // the close has to take this lock on its way to the loop
      other = Thread.ofPlatform().start(handle::close);
      LoopSupport.await(() -> other.getState() == Thread.State.BLOCKED);
      loop.scheduler().execute(handle::close);
      loop.close();
      assertThat(handle.isClosed()).isTrue();
    }
    LoopSupport.join(other);
    assertThat(handle.closes).isEqualTo(1);
  }

  // Regression: on io_uring, where the close comes later, the run of the loop failed instead.
  // r[verify loop.fd.raii]
  @EveryBackend
  void aDescriptorThatSomebodyElseHasClosedIsLoggedAndTheLoopGoesOn(Backend backend)
      throws IOException {
    try (var tapped = new Tapped(backend);
        Quiet log = Quiet.log(EventLoop.class)) {
      EventLoop loop = tapped.loop;
      var pair = StreamSocket.pair(loop, loop);
      var parked = start(pair.first().readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      int number = pair.first().descriptor();
      tapped.tap.script(
          "close",
          (_, arguments) ->
              (int) arguments[0] == number ? OptionalLong.of(-Errno.EBADF) : OptionalLong.empty());
      pair.first().close();
      drive(loop, () -> parked.done() && !log.messages().isEmpty());
      assertThat(parked.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(log.messages()).hasSize(1);
      tapped.tap.pass("close");
      Sys.forAnyThread().close(number);
      pair.second().close();
    }
  }

  // r[verify loop.fd.nonblock]
  @EveryBackend
  void everyDescriptorIsNonBlockingAndCloseOnExec(Backend backend) throws IOException {
    Descriptors before = Descriptors.now();
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      Path file = Files.createTempFile(directory, "file", null);
      var tcp = DescriptorSupport.tcp(loop);
      var unix = StreamSocket.pair(loop, loop);
      var pipe = Descriptor.pipe(loop);
      var acceptor = Acceptor.open(loop, UnixDomainSocketAddress.of(directory.resolve("l")));
      Sockets.Pair blocking = Sockets.pair(Sys.forAnyThread(), Sockets.Type.STREAM, true);
      FdFlags.setCloseOnExec(Sys.forAnyThread(), blocking.first().number(), false);
      var handles =
          List.<Handle>of(
              tcp.first(),
              tcp.second(),
              unix.first(),
              unix.second(),
              pipe.reader(),
              pipe.writer(),
              acceptor,
              DatagramSocket.open(loop, StandardProtocolFamily.INET),
              DatagramSocket.open(loop, StandardProtocolFamily.UNIX),
              result(loop, RegularFile.open(loop, file, OpenFlags.READ_ONLY, 0)),
              Descriptor.adopt(loop, blocking.first()),
              Descriptor.adopt(loop, blocking.second()));
      for (Handle handle : handles) {
        assertThat(FdFlags.isNonBlocking(Sys.forAnyThread(), handle.descriptor()))
            .as(handle.what())
            .isTrue();
      }
      var opened = new TreeMap<>(Descriptors.now().targets());
      opened.keySet().removeAll(before.targets().keySet());
      opened.values().removeIf(target -> target.startsWith("/")); // the JVM's own
      assertThat(opened).hasSizeGreaterThan(handles.size());
      for (int number : opened.keySet()) {
        assertThat(FdFlags.isCloseOnExec(Sys.forAnyThread(), number)).isTrue();
        boolean ring = "anon_inode:[io_uring]".equals(opened.get(number));
        if (number != tapped.epoll() && !ring) { // which block only in their own calls
          assertThat(FdFlags.isNonBlocking(Sys.forAnyThread(), number)).isTrue();
        }
      }
      handles.forEach(Handle::close);
    }
  }
}
