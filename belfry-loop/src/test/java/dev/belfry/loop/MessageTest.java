package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.bytes;
import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.errno;
import static dev.belfry.loop.DescriptorSupport.onLoop;
import static dev.belfry.loop.DescriptorSupport.read;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.send;
import static dev.belfry.loop.DescriptorSupport.start;
import static dev.belfry.loop.DescriptorSupport.tcp;
import static dev.belfry.loop.DescriptorSupport.text;
import static dev.belfry.loop.DescriptorSupport.write;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.FileStatus;
import dev.belfry.linux.Message;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.loop.DescriptorSupport.Probe;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.DescriptorSupport.Use;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.Descriptors;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;

/** Messages with descriptors and addresses, and sockets that carry only messages. */
final class MessageTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final int MSG_NOSIGNAL = 0x4000;

  private final Arena arena = Arena.ofAuto();

  @TempDir Path directory;

  private Message message(String... pieces) {
    var message = new Message(arena, Math.max(1, pieces.length), 4);
    for (String piece : pieces) {
      message.data().add(bytes(arena, piece));
    }
    return message;
  }

  private Message room(int... sizes) {
    var message = new Message(arena, sizes.length, 4);
    for (int size : sizes) {
      message.data().add(arena.allocate(size));
    }
    return message;
  }

  // r[verify loop.op.sendmsg]
  @EveryBackend
  void severalBuffersAndDescriptorsGoInOneMessage(Backend backend) throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "content");
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      tapped.tap.script(
          "sendmsg",
          (_, arguments) -> {
            assertThat((int) arguments[2] & MSG_NOSIGNAL).isNotZero();
            return OptionalLong.empty();
          });
      for (Use use : Use.values()) {
        var pair = StreamSocket.pair(loop, loop);
        try (Fd passed = OpenFile.open(SYS, file, OpenFlags.READ_ONLY, 0)) {
          var parked = start(pair.second().receive(room(3, 3, 9)));
          loop.runUntilEmpty();
          assertThat(parked.done()).isFalse();
          Message out = message("one", "two", "three");
          out.addDescriptor(passed.number());
          out.addDescriptor(pair.first().descriptor());
          assertThat(use.result(loop, pair.first().send(out))).isEqualTo(11);
          drive(loop, parked::done);
          assertThat(parked.value()).isEqualTo(11);
          Message in = ((MessageOperation) parked.operation).message();
          assertThat(in.descriptorCount()).isEqualTo(2);
          assertThat(in.areDescriptorsTruncated()).isFalse();
          for (int i = 0; i < 2; i++) {
            try (Fd received = Fd.own(SYS, in.descriptor(i), "received")) {
              assertThat(FdFlags.isCloseOnExec(SYS, received.number())).isTrue();
              int original = i == 0 ? passed.number() : pair.first().descriptor();
              assertThat(FileStatus.of(SYS, received.number()).inode())
                  .isEqualTo(FileStatus.of(SYS, original).inode());
            }
          }
        }
        pair.first().shutdownWrite();
        assertThat(use.result(loop, pair.second().receive(room(3))))
            .isEqualTo(TransferOperation.END_OF_FILE);
        pair.first().close();
        drive(loop, pair.first()::isClosed);
        assertThat(errno(loop, pair.second().send(message("x")))).isEqualTo(Errno.EPIPE);
        pair.second().close();
      }
    }
  }

  // Regression: a message without room for a byte was told that the stream had ended.
  // r[verify loop.op.zero]
  @EveryBackend
  void aMessageWithoutRoomSaysNothingOfTheEnd(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (StreamSocket.Pair pair : List.of(tcp(loop), StreamSocket.pair(loop, loop))) {
        write(loop, pair.first(), "data");
        assertThat(result(loop, pair.second().receive(room(0, 0)))).isZero();
        assertThat(result(loop, pair.second().receive(new Message(arena, 1, 0)))).isZero();
        assertThat(result(loop, pair.second().receive(room(1)))).isEqualTo(1); // and "ata" is there
        assertThat(result(loop, pair.second().receive(room(0)))).isZero();
        assertThat(read(loop, pair.second())).isEqualTo("ata");
        pair.first().close();
        pair.second().close();
      }
    }
  }

  // Regression: descriptors received after the future was cancelled stayed open forever.
  // r[verify loop.op.sendmsg] r[verify loop.fd.raii]
  @EveryBackend
  void descriptorsThatNobodyTakesAreClosed(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = StreamSocket.pair(loop, loop);
      var other = StreamSocket.pair(loop, loop);
      Message out = message("x");
      out.addDescriptor(other.first().descriptor());
      out.addDescriptor(other.second().descriptor());
      assertThat(result(loop, pair.first().send(out))).isEqualTo(1);
      send(other.second(), "y");
      Descriptors before = Descriptors.now();
      MessageOperation receive = pair.second().receive(room(1));
      TransferOperation first = other.first().readSome(arena.allocate(1));
      onLoop(
          loop,
          () -> {
            // Both complete in the same turn, so the second has its value but has not been told
            // yet.
            var future = new AtomicReference<@Nullable CompletableFuture<Integer>>();
            first.start(_ -> requireNonNull(future.get()).cancel(true));
            future.set(receive.toFuture());
          });
      drive(loop, () -> loop.inFlight() == 0);
      assertThat(receive.outcome()).isEqualTo(Outcome.VALUE);
      assertThat(before.openedSince()).isEmpty();
      assertThat(receive.message().descriptorCount()).isZero();
      for (var each : List.of(pair, other)) {
        each.first().close();
        each.second().close();
      }
    }
  }

  // r[verify loop.op.sendmsg]
  @EveryBackend
  void aMessageThatDoesNotFitWaits(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = StreamSocket.pair(loop, loop);
      var sends = new ArrayList<Probe<Integer>>();
      int sent = 0;
      while (true) {
        var message = new Message(arena, 1, 0);
        message.data().add(arena.allocate(100_000));
        var probe = start(pair.first().send(message));
        sends.add(probe);
        loop.runUntilEmpty();
        if (!probe.done()) {
          break;
        }
        sent += probe.value();
      }
      MemorySegment room = arena.allocate(sent);
      assertThat(result(loop, pair.second().readAll(room))).isEqualTo(sent);
      drive(loop, sends.getLast()::done);
      assertThat(sends.getLast().value()).isPositive();
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.op.sendmsg] r[verify loop.op.error]
  @EveryBackend
  void aMessageWhoseMemoryWasFreedFails(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = StreamSocket.pair(loop, loop);
      Arena freed = Arena.ofShared();
      var message = new Message(arena, 1, 0);
      message.data().add(freed.allocate(8));
      var parked = start(pair.first().receive(message));
      loop.runUntilEmpty();
      freed.close();
      send(pair.second(), "x");
      drive(loop, parked::done);
      assertThat(parked.operation.error()).isInstanceOf(IllegalStateException.class);
      assertThat(read(loop, pair.first())).isEqualTo("x");
      pair.first().close();
      pair.second().close();
    }
  }

  // Regression: the end of an adopted stream was received as an empty message.
  // r[verify loop.op.sendmsg]
  @EveryBackend
  void anAdoptedStreamSocketEndsToo(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      Sockets.Pair fds = Sockets.pair(SYS, Sockets.Type.STREAM, true);
      Descriptor ours = Descriptor.adopt(loop, fds.first());
      Descriptor theirs = Descriptor.adopt(loop, fds.second());
      assertThat(result(loop, theirs.send(message("hi")))).isEqualTo(2);
      assertThat(result(loop, ours.receive(room(8)))).isEqualTo(2);
      theirs.close();
      drive(loop, theirs::isClosed);
      assertThat(result(loop, ours.receive(room(8)))).isEqualTo(TransferOperation.END_OF_FILE);
      ours.close();
    }
  }

  @EveryBackend
  void whatIsNoSocketCarriesNoMessages(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pipe = Descriptor.pipe(loop);
      assertThatThrownBy(() -> pipe.writer().send(message("x")))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("not a socket");
      // An adopted descriptor that is not a socket is read and written as what it is.
      Fd copy = FdFlags.duplicate(SYS, pipe.writer().descriptor());
      Descriptor adopted = Descriptor.adopt(loop, copy);
      write(loop, adopted, "by a copy");
      assertThat(read(loop, pipe.reader())).isEqualTo("by a copy");
      adopted.close();
      pipe.writer().close();
      pipe.reader().close();
    }
  }

  // r[verify loop.op.sendmsg] r[verify loop.op.value]
  @EveryBackend
  void datagramsKnowWhereTheyCameFrom(Backend backend) throws IOException {
    var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (EventLoop loop = EventLoop.open(backend)) {
      for (boolean unix : new boolean[] {false, true}) {
        var family = unix ? StandardProtocolFamily.UNIX : StandardProtocolFamily.INET;
        var first = DatagramSocket.open(loop, family);
        var second = DatagramSocket.open(loop, family);
        first.bind(unix ? UnixDomainSocketAddress.of(directory.resolve("first")) : loopback);
        second.bind(unix ? UnixDomainSocketAddress.of(directory.resolve("second")) : loopback);
        for (Use use : Use.values()) {
          Message in = room(8);
          var parked = start(second.receive(in));
          loop.runUntilEmpty();
          Message out = message("to ", "you");
          out.setAddress(second.localAddress());
          assertThat(use.result(loop, first.send(out))).isEqualTo(6);
          drive(loop, parked::done);
          assertThat(parked.value()).isEqualTo(6);
          assertThat(in.address()).isEqualTo(first.localAddress());
          assertThat(in.isDataTruncated()).isFalse();

          // A message longer than the room, and an empty one.
          Message tooLong = message("a long message");
          tooLong.setAddress(second.localAddress());
          use.result(loop, first.send(tooLong));
          Message empty = message("");
          empty.setAddress(second.localAddress());
          assertThat(use.result(loop, first.send(empty))).isZero();
          assertThat(use.result(loop, second.receive(in))).isEqualTo(8);
          assertThat(in.isDataTruncated()).isTrue();
          assertThat(use.result(loop, second.receive(in))).isZero();
        }
        // Once connected, they are read and written.
        first.connect(second.localAddress());
        MemorySegment buffer = arena.allocate(8);
        assertThat(result(loop, first.writeSome(bytes(arena, "direct")))).isEqualTo(6);
        assertThat(result(loop, second.readSome(buffer))).isEqualTo(6);
        assertThat(text(buffer, 6)).isEqualTo("direct");
        first.close();
        second.close();
        drive(loop, second::isClosed);
        Files.deleteIfExists(directory.resolve("first"));
        Files.deleteIfExists(directory.resolve("second"));
      }
    }
  }

  // Regression: the kernel reports an unconnected socket as writable, however full the receiver's
  // queue is, and does so again after each attempt. So the loop spun.
  // r[verify loop.op.sendmsg]
  @EveryBackend
  void aDatagramForAQueueThatOthersHaveFilledWaitsInPeace(Backend backend) throws IOException {
    waitsInPeace(
        backend,
        (loop, message) -> DatagramSocket.open(loop, StandardProtocolFamily.UNIX).send(message));
  }

  // Regression: an adopted socket spun all the same.
  // r[verify loop.op.sendmsg]
  @EveryBackend
  void soDoesOneFromASocketThatWasTakenOver(Backend backend) throws IOException {
    waitsInPeace(
        backend,
        (loop, message) -> {
          Fd socket =
              Sockets.open(
                  Sys.forAnyThread(), StandardProtocolFamily.UNIX, Sockets.Type.DATAGRAM, true);
          return Descriptor.adopt(loop, socket).send(message);
        });
  }

  private interface Sender {
    MessageOperation send(EventLoop loop, Message message) throws IOException;
  }

  private void waitsInPeace(Backend backend, Sender sender) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var receiver = DatagramSocket.open(loop, StandardProtocolFamily.UNIX);
      var address = UnixDomainSocketAddress.of(directory.resolve("receiver"));
      receiver.bind(address);
      var other = DatagramSocket.open(loop, StandardProtocolFamily.UNIX);
      other.connect(address);
      var filling = new ArrayList<Probe<Integer>>();
      do {
        filling.add(start(other.writeSome(bytes(arena, "x"))));
        loop.runUntilEmpty();
      } while (filling.getLast().done());
      filling.getLast().operation.cancel();
      Message message = message("mine");
      message.setAddress(address);
      MessageOperation send = sender.send(loop, message);
      var waiting = start(send);
      var pause = start(loop.scheduler().after(Duration.ofMillis(30)));
      drive(loop, pause::done);
      assertThat(waiting.done()).isFalse();
      assertThat(tapped.calls("sendmsg")).isLessThan(20);
      for (int i = 1; i < filling.size(); i++) {
        assertThat(read(loop, receiver)).isEqualTo("x");
      }
      drive(loop, waiting::done);
      assertThat(waiting.value()).isEqualTo(4);
      assertThat(read(loop, receiver)).isEqualTo("mine");
      receiver.close();
      other.close();
      send.handle.close();
    }
  }

  // r[verify loop.op.error]
  @EveryBackend
  void aDatagramToNobodyIsRefused(Backend backend) throws IOException {
    var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (EventLoop loop = EventLoop.open(backend)) {
      var gone = DatagramSocket.open(loop, StandardProtocolFamily.INET);
      gone.bind(loopback);
      var socket = DatagramSocket.open(loop, StandardProtocolFamily.INET);
      socket.connect(gone.localAddress());
      gone.close();
      drive(loop, gone::isClosed);
      var reading = start(socket.readSome(arena.allocate(8)));
      loop.runUntilEmpty();
      result(loop, socket.writeSome(arena.allocate(8)));
      drive(loop, reading::done);
      assertThat(reading.errno()).isEqualTo(Errno.ECONNREFUSED);
      socket.close();
    }
  }
}
