package dev.belfry.bench.echo;

import dev.belfry.bench.harness.ContenderMain;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.uring.IoUringBufferRingConfig;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringFixedBufferRingAllocator;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringIoHandlerConfig;
import io.netty.channel.uring.IoUringServerSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * An echo server on Netty: one event loop for the listener and all connections, pooled direct
 * buffers written back unchanged, one flush per read, no promise per write.
 */
public final class NettyServer {
  /** Netty's transports. */
  public enum Transport {
    EPOLL(EpollServerSocketChannel.class),
    IO_URING(IoUringServerSocketChannel.class),
    IO_URING_BUFFERS(IoUringServerSocketChannel.class);

    private final Class<? extends ServerChannel> channel;

    Transport(Class<? extends ServerChannel> channel) {
      this.channel = channel;
    }

    private IoHandlerFactory handlers() {
      return switch (this) {
        case EPOLL -> EpollIoHandler.newFactory();
        case IO_URING -> IoUringIoHandler.newFactory();
        case IO_URING_BUFFERS ->
            IoUringIoHandler.newFactory(
                new IoUringIoHandlerConfig().setBufferRingConfig(bufferRing()));
      };
    }

    private static IoUringBufferRingConfig bufferRing() {
      return IoUringBufferRingConfig.builder()
          .bufferGroupId(BUFFER_GROUP)
          .bufferRingSize((short) 512)
          .batchSize(64)
          .allocator(new IoUringFixedBufferRingAllocator(PooledByteBufAllocator.DEFAULT, 2048))
          .build();
    }
  }

  private static final short BUFFER_GROUP = 1;

  private NettyServer() {}

  public static void main(String[] arguments) throws Exception {
    Transport transport = Transport.valueOf(arguments[0]);
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, transport.handlers());
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(group, group)
            .channel(transport.channel)
            .option(ChannelOption.SO_BACKLOG, 1024)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
            .childHandler(new Echo());
    if (transport == Transport.IO_URING_BUFFERS) {
      bootstrap.childOption(IoUringChannelOption.IO_URING_BUFFER_GROUP_ID, BUFFER_GROUP);
    }
    Channel listener = bootstrap.bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
    ContenderMain.ready(((InetSocketAddress) listener.localAddress()).getPort());
    ContenderMain.awaitEnd();
    System.exit(0);
  }

  /** Stateless, so that one instance serves all connections. */
  @Sharable
  private static final class Echo extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      var _ = context.write(message, context.voidPromise());
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      context.flush();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var _ = context.close();
    }
  }
}
