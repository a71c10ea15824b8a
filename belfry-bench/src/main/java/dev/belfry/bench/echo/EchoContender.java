package dev.belfry.bench.echo;

import dev.belfry.bench.harness.JavaCommand;
import dev.belfry.loop.Backend;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The echo servers. */
enum EchoContender {
  BELFRY_CALLBACK("belfry-callback"),
  BELFRY_COROUTINE("belfry-coroutine"),
  BELFRY_IO_URING("belfry-io_uring"),
  BELFRY_IO_URING_COROUTINE("belfry-io_uring-coroutine"),
  NETTY_EPOLL("netty-epoll"),
  NETTY_IO_URING("netty-io_uring"),
  /** With a ring of buffers that the kernel fills, so that one request receives repeatedly. */
  NETTY_IO_URING_BUFFERS("netty-io_uring-buffers"),
  NIO("nio"),
  C("c");

  /** The name on the command line and in the tables. */
  final String label;

  EchoContender(String label) {
    this.label = label;
  }

  static List<String> labels() {
    return Arrays.stream(values()).map(contender -> contender.label).toList();
  }

  static EchoContender of(String label) {
    return Arrays.stream(values())
        .filter(contender -> contender.label.equals(label))
        .findAny()
        .orElseThrow();
  }

  /** Whether it gets faster while it runs. */
  boolean warmsUp() {
    return this != C;
  }

  /** The command that starts it. */
  List<String> command(Path cServer) {
    return switch (this) {
      case BELFRY_CALLBACK -> belfry(BelfryCallbackServer.class, Backend.EPOLL);
      case BELFRY_COROUTINE -> belfry(BelfryCoroutineServer.class, Backend.EPOLL);
      case BELFRY_IO_URING -> belfry(BelfryCallbackServer.class, Backend.IO_URING);
      case BELFRY_IO_URING_COROUTINE -> belfry(BelfryCoroutineServer.class, Backend.IO_URING);
      case NETTY_EPOLL -> netty(NettyServer.Transport.EPOLL);
      case NETTY_IO_URING -> netty(NettyServer.Transport.IO_URING);
      case NETTY_IO_URING_BUFFERS -> netty(NettyServer.Transport.IO_URING_BUFFERS);
      case NIO -> JavaCommand.of(List.of(), NioServer.class);
      case C -> List.of(cServer.toString());
    };
  }

  private static List<String> belfry(Class<?> server, Backend backend) {
    return JavaCommand.of(JavaCommand.BELFRY, server, backend.name());
  }

  private static List<String> netty(NettyServer.Transport transport) {
    return JavaCommand.of(JavaCommand.NETTY, NettyServer.class, transport.name());
  }
}
