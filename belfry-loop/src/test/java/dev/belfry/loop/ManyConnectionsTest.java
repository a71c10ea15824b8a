package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.ResourceLimit;
import dev.belfry.linux.Sys;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.TestProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Many connections at once, used and closed. */
final class ManyConnectionsTest {
  private static final int COUNT = LoopSupport.rounds(1_000, 10_000);
  private static final long MEGABYTE = 1 << 20;

  /** Raises the descriptor limit of this process to its maximum. */
  private static void raiseLimit() throws IOException {
    Sys sys = Sys.forAnyThread();
    var limit = ResourceLimit.DESCRIPTORS.get(sys);
    ResourceLimit.DESCRIPTORS.set(sys, new ResourceLimit.Value(limit.hard(), limit.hard()));
  }

  /** Connects many times, exchanges data on each connection, and closes them on request. */
  static final class Clients {
    private Clients() {}

    public static void main(String[] arguments) throws Exception {
      raiseLimit();
      var server =
          new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
      int count = Integer.parseInt(arguments[1]);
      try (Driven driven = Driven.open(Backend.EPOLL);
          Arena arena = Arena.ofShared()) {
        EventLoop loop = driven.loop();
        var told = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var sockets = new ArrayList<StreamSocket>();
        for (int i = 0; i < count; i++) {
          StreamSocket socket = StreamSocket.open(loop, StandardProtocolFamily.INET);
          socket.connect(server).await();
          sockets.add(socket);
        }
        var answered = new AtomicInteger();
        for (StreamSocket socket : sockets) {
          MemorySegment buffer = arena.allocate(16);
          socket
              .writeAll(buffer)
              .start(
                  _ ->
                      socket
                          .readAll(buffer)
                          .start(
                              read -> {
                                if (read.hasValue() && ((TransferOperation) read).bytes() == 16) {
                                  answered.incrementAndGet();
                                }
                              }));
        }
        LoopSupport.await(() -> answered.get() == count);
        System.out.println("answered " + count);
        told.readLine();
        sockets.forEach(Handle::close);
        LoopSupport.await(sockets.getLast()::isClosed);
        System.out.println("closed");
        told.readLine();
      }
    }
  }

  /** Echoes on one connection until it ends. */
  private static final class Echo implements Completion<Integer> {
    private final StreamSocket socket;
    private final AtomicInteger open;
    private final Arena arena = Arena.ofShared();
    private final TransferOperation read;
    private final TransferOperation write;

    Echo(StreamSocket socket, AtomicInteger open) {
      this.socket = socket;
      this.open = open;
      MemorySegment buffer = arena.allocate(16);
      this.read = socket.readSome(buffer);
      this.write = socket.writeAll(buffer);
      open.incrementAndGet();
      read.start(this);
    }

    @Override
    public void completed(Operation<? extends Integer> operation) {
      if (operation == write && operation.hasValue()) {
        read.start(this);
      } else if (operation == read && operation.hasValue() && read.bytes() > 0) {
        write.start(this);
      } else {
        socket.close();
        arena.close();
        open.decrementAndGet();
      }
    }
  }

  private static void serve(Driven driven, int count) throws Exception {
    var open = new AtomicInteger();
    Acceptor acceptor =
        Acceptor.open(driven.loop(), new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    AcceptOperation accept = acceptor.accept();
    accept.start(
        new Completion<>() {
          @Override
          public void completed(Operation<? extends StreamSocket> accepted) {
            if (accepted.hasValue()) {
              var _ = new Echo(accept.value(), open);
              accept.start(this);
            }
          }
        });
    int port = ((InetSocketAddress) acceptor.localAddress()).getPort();
    try (var clients =
        TestProcess.java(Clients.class, Integer.toString(port), Integer.toString(count))) {
      assertThat(clients.line("answered ")).isEqualTo(Integer.toString(count));
      assertThat(open.get()).isEqualTo(count);
      clients.say("close");
      assertThat(clients.line()).isEqualTo("closed");
      LoopSupport.await(() -> open.get() == 0);
      clients.say("end");
      assertThat(clients.exitCode()).isZero();
    }
    acceptor.close();
    LoopSupport.await(acceptor::isClosed);
  }

  private static long usedHeap() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      Runtime runtime = Runtime.getRuntime();
      least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
    }
    return least;
  }

  // r[verify loop.fd.raii] r[verify loop.accept.once]
  @EveryBackend
  void nothingIsLeftOfThem(Backend backend) throws Exception {
    raiseLimit();
    try (Driven driven = Driven.open(backend)) {
      serve(driven, 20); // loads the classes it needs
      Descriptors before = Descriptors.now();
      long heap = usedHeap();
      serve(driven, COUNT);
      assertThat(before.openedSince()).isEmpty();
      // The growth of the loop's tables is a few dozen bytes per connection.
      assertThat(usedHeap() - heap).isLessThan(2 * MEGABYTE);
    }
  }
}
