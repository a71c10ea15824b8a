package dev.belfry.linux;

import static java.net.StandardProtocolFamily.INET;
import static java.net.StandardProtocolFamily.INET6;
import static java.net.StandardProtocolFamily.UNIX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class SocketsTest {
  private static final Sys SYS = Sys.forAnyThread();

  @TempDir Path directory;

  /** An address to listen at: any free port, or a fresh path. */
  private SocketAddress anyAddress(StandardProtocolFamily family) throws Exception {
    return switch (family) {
      case INET -> new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);
      case INET6 -> new InetSocketAddress(InetAddress.ofLiteral("::1"), 0);
      case UNIX -> UnixDomainSocketAddress.of(directory.resolve("socket"));
    };
  }

  private Fd listener(StandardProtocolFamily family) throws Exception {
    Fd listener = Sockets.open(SYS, family, Sockets.Type.STREAM, false);
    Sockets.bind(SYS, listener.number(), anyAddress(family));
    Sockets.listen(SYS, listener.number(), 16);
    return listener;
  }

  /** A client connected to the listener; the connect may be in progress at first. */
  private static Fd connect(Fd listener) throws ErrnoException {
    SocketAddress address = Sockets.localAddress(SYS, listener.number());
    Fd client = Sockets.open(SYS, Sockets.familyOf(address), Sockets.Type.STREAM, false);
    try (Arena arena = Arena.ofConfined()) {
      int result = Sockets.connect(SYS, client.number(), Sockets.encode(arena, address));
      if (result == -Errno.EINPROGRESS) {
        await(client.number(), PollSet.OUT);
        result = -Sockets.takeError(SYS, client.number());
      }
      assertThat(result).isZero();
    }
    return client;
  }

  private static Fd accept(Fd listener) {
    await(listener.number(), PollSet.IN);
    return Fd.own(SYS, Sockets.accept(SYS, listener.number()), "accepted");
  }

  private static int await(int fd, int events) {
    var set = new PollSet(SYS, 1);
    set.set(0, fd, events);
    long patience = TimeUnit.SECONDS.toNanos(OnThread.PATIENCE_SECONDS);
    assertThat(set.await(System.nanoTime() + patience)).isEqualTo(1);
    return set.happened(0);
  }

  private static String receive(Fd socket) {
    await(socket.number(), PollSet.IN);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment room = arena.allocate(64);
      long bytes = Sockets.receive(SYS, socket.number(), room);
      return bytes < 0 ? Errno.name((int) -bytes) : text(room, bytes);
    }
  }

  private static String text(MemorySegment room, long bytes) {
    return new String(
        room.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
  }

  private static long send(Fd socket, String text) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocateFrom(text);
      return Sockets.send(SYS, socket.number(), bytes.asSlice(0, bytes.byteSize() - 1));
    }
  }

  @ParameterizedTest
  @EnumSource
  void aStreamCarriesBytesBothWays(StandardProtocolFamily family) throws Exception {
    try (Fd listener = listener(family);
        Fd client = connect(listener);
        Fd server = accept(listener)) {
      assertThat(send(client, "question")).isEqualTo(8);
      assertThat(receive(server)).isEqualTo("question");
      assertThat(send(server, "answer")).isEqualTo(6);
      assertThat(receive(client)).isEqualTo("answer");
    }
  }

  @ParameterizedTest
  @EnumSource
  void bothSidesKnowEachOthersAddress(StandardProtocolFamily family) throws Exception {
    try (Fd listener = listener(family);
        Fd client = connect(listener);
        Fd server = accept(listener)) {
      SocketAddress listening = Sockets.localAddress(SYS, listener.number());
      assertThat(Sockets.remoteAddress(SYS, client.number())).isEqualTo(listening);
      assertThat(Sockets.localAddress(SYS, server.number())).isEqualTo(listening);
      assertThat(Sockets.remoteAddress(SYS, server.number()))
          .isEqualTo(Sockets.localAddress(SYS, client.number()));
      if (family == UNIX) {
        assertThat(listening).isEqualTo(anyAddress(UNIX));
        assertThat(Sockets.localAddress(SYS, client.number()))
            .as("a client has no name")
            .isEqualTo(UnixDomainSocketAddress.of(""));
      } else {
        assertThat(((InetSocketAddress) listening).getPort()).isPositive();
        assertThat(((InetSocketAddress) listening).getAddress())
            .isEqualTo(((InetSocketAddress) anyAddress(family)).getAddress());
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void anAcceptedConnectionIsCloseOnExecAndNeverBlocks(StandardProtocolFamily family)
      throws Exception {
    try (Fd listener = listener(family)) {
      assertThat(Sockets.accept(SYS, listener.number())).as("nobody").isEqualTo(-Errno.EAGAIN);
      try (Fd _ = connect(listener);
          Fd server = accept(listener)) {
        assertThat(FdFlags.isCloseOnExec(SYS, server.number())).isTrue();
        assertThat(FdFlags.isNonBlocking(SYS, server.number())).isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void blockingIsAChoiceAndCloseOnExecIsNot(StandardProtocolFamily family) throws Exception {
    for (boolean blocking : new boolean[] {true, false}) {
      try (Fd socket = Sockets.open(SYS, family, Sockets.Type.STREAM, blocking)) {
        assertThat(FdFlags.isNonBlocking(SYS, socket.number())).isEqualTo(!blocking);
        assertThat(FdFlags.isCloseOnExec(SYS, socket.number())).isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void halfClosedItCanStillBeRead(StandardProtocolFamily family) throws Exception {
    try (Fd listener = listener(family);
        Fd client = connect(listener);
        Fd server = accept(listener)) {
      send(client, "last words");
      Sockets.shutdown(SYS, client.number(), Sockets.SHUT_WR);

      assertThat(receive(server)).isEqualTo("last words");
      assertThat(receive(server)).as("the end").isEmpty();
      assertThat(send(server, "understood")).isEqualTo(10);
      assertThat(receive(client)).isEqualTo("understood");
      assertThat(send(client, "more")).isEqualTo(-Errno.EPIPE);
    }
  }

  @Test
  void aConnectionIsResetWhenAskedFor() throws Exception {
    try (Fd listener = listener(INET);
        Fd client = connect(listener)) {
      try (Fd server = accept(listener)) {
        Sockets.resetOnClose(SYS, server.number());
      }
      assertThat(await(client.number(), PollSet.IN) & PollSet.ERR).isNotZero();
      assertThat(receive(client)).isEqualTo("ECONNRESET");
    }
  }

  @Test
  void aRefusedConnectionSaysSoOnce() throws Exception {
    SocketAddress gone;
    try (Fd listener = listener(INET)) {
      gone = Sockets.localAddress(SYS, listener.number());
    }
    try (Fd client = Sockets.open(SYS, INET, Sockets.Type.STREAM, false);
        Arena arena = Arena.ofConfined()) {
      int result = Sockets.connect(SYS, client.number(), Sockets.encode(arena, gone));
      if (result == -Errno.EINPROGRESS) {
        await(client.number(), PollSet.OUT);
        result = -Sockets.takeError(SYS, client.number());
      }
      assertThat(result).isEqualTo(-Errno.ECONNREFUSED);
      assertThat(Sockets.takeError(SYS, client.number())).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"INET", "INET6"})
  void aDatagramComesWithItsSender(StandardProtocolFamily family) throws Exception {
    try (Fd receiver = Sockets.open(SYS, family, Sockets.Type.DATAGRAM, false);
        Fd sender = Sockets.open(SYS, family, Sockets.Type.DATAGRAM, false);
        Arena arena = Arena.ofConfined()) {
      Sockets.bind(SYS, receiver.number(), anyAddress(family));
      Sockets.bind(SYS, sender.number(), anyAddress(family));
      var letter = new Message(arena, 1, 0);
      letter.setAddress(Sockets.localAddress(SYS, receiver.number()));
      letter.data().add(arena.allocateFrom("post"));
      assertThat(letter.send(SYS, sender.number())).isEqualTo(5);

      await(receiver.number(), PollSet.IN);
      MemorySegment room = arena.allocate(16);
      var arrived = new Message(arena, 1, 0);
      arrived.data().add(room);

      assertThat(arrived.receive(SYS, receiver.number())).isEqualTo(5);
      assertThat(room.getString(0)).isEqualTo("post");
      assertThat(arrived.address()).isEqualTo(Sockets.localAddress(SYS, sender.number()));
      assertThat(arrived.isDataTruncated()).isFalse();
    }
  }

  /** The name ends where the address does: with a zero after it, it would be another name. */
  @Test
  void aNameThatIsNoFileIsReached() throws Exception {
    String name = "belfry/" + ProcessHandle.current().pid() + "/é";
    try (Fd receiver = Sockets.open(SYS, UNIX, Sockets.Type.DATAGRAM, false);
        Fd sender = Sockets.open(SYS, UNIX, Sockets.Type.DATAGRAM, false);
        Arena arena = Arena.ofConfined()) {
      MemorySegment address = Sockets.encodeAbstract(arena, name);
      assertThat(SYS.bind(receiver.number(), address, (int) address.byteSize())).isZero();
      assertThat(Files.readAllLines(Path.of("/proc/net/unix")))
          .anyMatch(line -> line.endsWith(" @" + name));

      assertThat(Sockets.connect(SYS, sender.number(), address)).isZero();
      assertThat(send(sender, "found")).isEqualTo(5);
      assertThat(receive(receiver)).isEqualTo("found");
    }
  }

  @Test
  void aNameThatIsEmptyOrTooLongIsRefused() {
    try (Arena arena = Arena.ofConfined()) {
      assertThat(Sockets.encodeAbstract(arena, "n".repeat(107)).byteSize()).isEqualTo(110);
      for (String name : List.of("", "n".repeat(108))) {
        assertThatThrownBy(() -> Sockets.encodeAbstract(arena, name))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageStartingWith("the name of a Unix socket has 1 to 107 bytes, not ");
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aPairIsConnected(Sockets.Type type) throws ErrnoException {
    Sockets.Pair pair = Sockets.pair(SYS, type, false);
    try (Fd first = pair.first();
        Fd second = pair.second()) {
      assertThat(send(first, "one")).isEqualTo(3);
      assertThat(send(first, "two")).isEqualTo(3);
      if (type == Sockets.Type.STREAM) {
        assertThat(receive(second)).isEqualTo("onetwo");
      } else {
        assertThat(receive(second)).isEqualTo("one");
        assertThat(receive(second)).isEqualTo("two");
      }
      assertThat(Sockets.option(SYS, first.number(), Sockets.SOL_SOCKET, Sockets.SO_TYPE))
          .isEqualTo(type.number());
      assertThat(Sockets.remoteAddress(SYS, first.number()))
          .isEqualTo(UnixDomainSocketAddress.of(""));
      assertThat(FdFlags.isCloseOnExec(SYS, second.number())).isTrue();
    }
  }

  @Test
  void sendAndReceiveNeverBlockEvenOnABlockingSocket() throws ErrnoException {
    Sockets.Pair pair = Sockets.pair(SYS, Sockets.Type.STREAM, true);
    try (Arena arena = Arena.ofConfined();
        Fd first = pair.first();
        Fd second = pair.second()) {
      MemorySegment much = arena.allocate(1 << 16);
      assertThat(Sockets.receive(SYS, second.number(), much)).isEqualTo(-Errno.EAGAIN);
      long sent = 0;
      while (sent >= 0) {
        sent = Sockets.send(SYS, first.number(), much);
      }
      assertThat(sent).isEqualTo(-Errno.EAGAIN);
    }
  }

  @Test
  void optionsAreSetAndRead() throws Exception {
    try (Fd socket = Sockets.open(SYS, INET6, Sockets.Type.STREAM, false)) {
      int fd = socket.number();
      for (int[] option :
          new int[][] {
            {Sockets.SOL_SOCKET, Sockets.SO_REUSEADDR},
            {Sockets.SOL_SOCKET, Sockets.SO_REUSEPORT},
            {Sockets.SOL_SOCKET, Sockets.SO_BROADCAST},
            {Sockets.SOL_SOCKET, Sockets.SO_KEEPALIVE},
            {Sockets.IPPROTO_TCP, Sockets.TCP_NODELAY},
            {Sockets.IPPROTO_IPV6, Sockets.IPV6_V6ONLY}
          }) {
        Sockets.setOption(SYS, fd, option[0], option[1], 1);
        assertThat(Sockets.option(SYS, fd, option[0], option[1])).isEqualTo(1);
        Sockets.setOption(SYS, fd, option[0], option[1], 0);
        assertThat(Sockets.option(SYS, fd, option[0], option[1])).isZero();
      }
      Sockets.setOption(SYS, fd, Sockets.SOL_SOCKET, Sockets.SO_RCVBUF, 8192);
      assertThat(Sockets.option(SYS, fd, Sockets.SOL_SOCKET, Sockets.SO_RCVBUF))
          .as("the kernel doubles it")
          .isEqualTo(16384);
      assertThatThrownBy(() -> Sockets.setOption(SYS, fd, Sockets.SOL_SOCKET, 9999, 1))
          .isInstanceOf(ErrnoException.class)
          .hasMessageContaining("option 9999, value 1")
          .hasMessageContaining("ENOPROTOOPT");
    }
  }

  @Test
  void anAddressInUseIsNamed() throws Exception {
    try (Fd listener = listener(INET);
        Fd second = Sockets.open(SYS, INET, Sockets.Type.STREAM, false)) {
      SocketAddress taken = Sockets.localAddress(SYS, listener.number());
      assertThatThrownBy(() -> Sockets.bind(SYS, second.number(), taken))
          .isInstanceOf(ErrnoException.class)
          .hasMessageStartingWith("bind(" + taken + "): EADDRINUSE");
    }
  }

  @Test
  void anIpv4PeerOfADualSocketIsKnownByItsIpv4Address() throws Exception {
    try (Fd listener = Sockets.open(SYS, INET6, Sockets.Type.STREAM, false)) {
      Sockets.setOption(SYS, listener.number(), Sockets.IPPROTO_IPV6, Sockets.IPV6_V6ONLY, 0);
      Sockets.bind(SYS, listener.number(), new InetSocketAddress(InetAddress.ofLiteral("::"), 0));
      Sockets.listen(SYS, listener.number(), 1);
      int port = ((InetSocketAddress) Sockets.localAddress(SYS, listener.number())).getPort();
      InetAddress four = InetAddress.ofLiteral("127.0.0.1");
      try (Fd client = Sockets.open(SYS, INET, Sockets.Type.STREAM, true);
          Arena arena = Arena.ofConfined()) {
        var address = Sockets.encode(arena, new InetSocketAddress(four, port));
        assertThat(Sockets.connect(SYS, client.number(), address)).isZero();
        try (Fd server = accept(listener)) {
          assertThat(Sockets.remoteAddress(SYS, server.number()))
              .isEqualTo(Sockets.localAddress(SYS, client.number()));
        }
      }
    }
  }
}
