package dev.belfry.bench.call;

import dev.belfry.bench.echo.NettyServer;
import dev.belfry.bench.harness.ContenderProcess;
import dev.belfry.bench.harness.JavaCommand;
import dev.belfry.bench.harness.Pinning;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The Netty echo server, called over one loopback connection per caller. */
final class NettyCalling implements Calling {
  private final ContenderProcess server;
  private final int port;
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());

  private NettyCalling(ContenderProcess server, int port) {
    this.server = server;
    this.port = port;
  }

  static Calling open() throws IOException {
    List<String> command =
        JavaCommand.of(JavaCommand.NETTY, NettyServer.class, NettyServer.Transport.EPOLL.name());
    ContenderProcess server = ContenderProcess.start("netty", command, Pinning.NONE);
    return new NettyCalling(server, Integer.parseInt(server.awaitReady()));
  }

  @Override
  public Caller caller(int bytes) throws InterruptedException {
    var connection = new Connection(bytes);
    Channel channel =
        new Bootstrap()
            .group(group)
            .channel(EpollSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .handler(connection)
            .connect(InetAddress.getLoopbackAddress(), port)
            .sync()
            .channel();
    return payload -> connection.call(channel, payload);
  }

  @Override
  public void close() {
    var _ = group.shutdownGracefully();
    server.close();
  }

  /** Assembles the answer on the event loop, and wakes the waiting caller. */
  private static final class Connection extends SimpleChannelInboundHandler<ByteBuf> {
    private byte[] incoming;
    private int received;
    private volatile @Nullable Thread caller;
    private volatile byte @Nullable [] answer;

    Connection(int bytes) {
      this.incoming = new byte[bytes];
    }

    byte[] call(Channel channel, byte[] payload) throws IOException {
      caller = Thread.currentThread();
      answer = null;
      var _ =
          channel.writeAndFlush(
              channel.alloc().directBuffer(payload.length).writeBytes(payload),
              channel.voidPromise());
      byte[] come = answer;
      while (come == null) {
        if (!channel.isActive()) {
          throw new IOException("the other process is gone");
        }
        LockSupport.park(this);
        come = answer;
      }
      return come;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf some) {
      int length = some.readableBytes();
      some.readBytes(incoming, received, length);
      received += length;
      if (received == incoming.length) {
        answer = incoming;
        incoming = new byte[incoming.length];
        received = 0;
        LockSupport.unpark(caller);
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      LockSupport.unpark(caller);
    }
  }
}
