package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Fd;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.Sys;
import dev.belfry.loop.DescriptorSupport.Probe;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.List;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicLong;

/** Readiness, cancel and close at the same time: exactly one completion, and no hang. */
final class DescriptorRaceTest {
  private static final Sys SYS = Sys.forAnyThread();

  private final Arena arena = Arena.ofAuto();
  private final MemorySegment one = arena.allocate(1);

  private void writeOne(int descriptor) {
    SYS.write(descriptor, one, 1);
  }

  /** Acts on another thread in each round, as nearly as possible at the same time. */
  private static final class Rival implements AutoCloseable {
    private final Phaser gate = new Phaser(2);
    private final Thread thread;
    private volatile Runnable action = () -> {};
    private volatile boolean over;

    Rival() {
      thread =
          Thread.ofPlatform()
              .daemon()
              .name("rival")
              .start(
                  () -> {
                    while (true) {
                      gate.arriveAndAwaitAdvance();
                      if (over) {
                        return;
                      }
                      action.run();
                      gate.arriveAndAwaitAdvance();
                    }
                  });
    }

    void begin(Runnable what) {
      action = what;
      gate.arriveAndAwaitAdvance();
    }

    void end() {
      gate.arriveAndAwaitAdvance();
    }

    @Override
    public void close() {
      over = true;
      gate.arriveAndDeregister();
      try {
        LoopSupport.join(thread);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  // r[verify loop.cancel.stopped] r[verify loop.backend.single]
  @EveryBackend
  void cancelAgainstReadiness(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(5_000, 100_000); // on each of the backends
    try (Driven driven = Driven.open(backend);
        var rival = new Rival()) {
      EventLoop loop = driven.loop();
      var unix = StreamSocket.pair(loop, loop);
      var tcp = tcp(driven);
      MemorySegment buffer = arena.allocate(64);
      TransferOperation ofUnix = unix.first().readSome(buffer);
      TransferOperation ofTcp = tcp.first().readSome(buffer);
      for (int i = 0; i < rounds; i++) {
        boolean byTcp = (i & 2) == 0;
        TransferOperation reading = byTcp ? ofTcp : ofUnix;
        int theirs = (byTcp ? tcp : unix).second().descriptor();
        var probe = new Probe<>(reading);
        var stop = new StopSource();
        boolean byToken = (i & 1) == 0;
        reading.start(probe, byToken ? stop.token() : StopToken.NEVER);
        rival.begin(() -> writeOne(theirs));
        if (byToken) {
          stop.requestStop();
        } else {
          reading.cancel();
        }
        rival.end();
        LoopSupport.await(probe::done);
        assertThat(probe.thread()).isSameAs(driven.thread());
        if (reading.outcome() == Outcome.STOPPED) {
          // The byte is left for the next read.
          assertThat(LoopSupport.get(reading.toFuture())).isEqualTo(1);
        } else {
          assertThat(reading.outcome()).isEqualTo(Outcome.VALUE);
        }
        assertThat(probe.count()).isEqualTo(1);
      }
      for (var pair : List.of(unix, tcp)) {
        pair.first().close();
        pair.second().close();
      }
    }
  }

  // r[verify loop.cancel.stopped] r[verify loop.fd.close]
  @EveryBackend
  void closeAgainstReadinessAndCancel(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(5_000, 100_000); // on each of the backends
    try (Driven driven = Driven.open(backend);
        var writer = new Rival();
        var canceller = new Rival()) {
      EventLoop loop = driven.loop();
      MemorySegment buffer = arena.allocate(64);
      for (int i = 0; i < rounds; i++) {
        var pair = StreamSocket.pair(loop, loop);
        int theirs = pair.second().descriptor();
        TransferOperation reading = pair.first().readSome(buffer);
        TransferOperation behind = pair.first().readSome(buffer);
        var first = new Probe<>(reading);
        var second = new Probe<>(behind);
        reading.start(first);
        behind.start(second);
        writer.begin(() -> writeOne(theirs));
        if (i % 3 == 0) {
          canceller.begin(reading::cancel);
        } else {
          canceller.begin(() -> {});
        }
        pair.first().close();
        writer.end();
        canceller.end();
        LoopSupport.await(first::done);
        LoopSupport.await(second::done);
        assertThat(reading.outcome()).isIn(Outcome.VALUE, Outcome.STOPPED);
        assertThat(behind.outcome()).isIn(Outcome.VALUE, Outcome.STOPPED);
        assertThat(first.count() + second.count()).isEqualTo(2);
        assertThat(first.thread()).isSameAs(driven.thread());
        pair.second().close();
      }
      LoopSupport.get(loop.scheduler().schedule().toFuture());
    }
  }

  // Regression: a token that was firing while its operation completed could stop the next start of
  // that operation, which had a token of its own.
  // r[verify loop.cancel.stopped] r[verify loop.mt.lifetime]
  @EveryBackend
  void aLateTokenDoesNotStopALaterStart(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(3_000, 50_000);
    try (Driven driven = Driven.open(backend);
        var rival = new Rival()) {
      EventLoop loop = driven.loop();
      var pair = StreamSocket.pair(loop, loop);
      int theirs = pair.second().descriptor();
      TransferOperation reading = pair.first().readSome(arena.allocate(1));
      var never = new StopSource();
      for (int i = 0; i < rounds; i++) {
        var stop = new StopSource();
        var later = new Probe<>(reading);
        reading.start(_ -> reading.start(later, never.token()), stop.token());
        rival.begin(stop::requestStop);
        writeOne(theirs);
        rival.end();
        writeOne(theirs);
        LoopSupport.await(later::done);
        assertThat(reading.outcome()).isEqualTo(Outcome.VALUE);
        drain(pair.first(), pair.second());
      }
      pair.first().close();
      pair.second().close();
    }
  }

  /** Reads what is left, so that each round begins with an empty socket. */
  private void drain(StreamSocket ours, StreamSocket theirs) throws IOException {
    MemorySegment room = arena.allocate(16);
    var reading = ours.readSome(room);
    // One byte more, so that there is at least one.
    writeOne(theirs.descriptor());
    reading.await();
  }

  // r[verify loop.op.no-lost-edge]
  @EveryBackend
  void noByteIsOverlooked(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(5_000, 100_000); // on each of the backends
    try (Driven driven = Driven.open(backend);
        var rival = new Rival()) {
      EventLoop loop = driven.loop();
      var kept = StreamSocket.pair(loop, loop);
      var tcp = tcp(driven);
      MemorySegment buffer = arena.allocate(64);
      for (int i = 0; i < rounds; i++) {
        boolean fresh = (i & 1) == 0;
        StreamSocket.Pair pair = fresh ? StreamSocket.pair(loop, loop) : i % 4 == 1 ? kept : tcp;
        int theirs = pair.second().descriptor();
        var reading = new Probe<>(pair.first().readSome(buffer));
        rival.begin(() -> writeOne(theirs));
        reading.operation.start(reading);
        rival.end();
        LoopSupport.await(reading::done);
        assertThat(reading.value()).isEqualTo(1);
        if (fresh) {
          pair.first().close();
          pair.second().close();
        }
      }
      for (var pair : new StreamSocket.Pair[] {kept, tcp}) {
        pair.first().close();
        pair.second().close();
      }
    }
  }

  private static StreamSocket.Pair tcp(Driven driven) throws IOException {
    EventLoop loop = driven.loop();
    Acceptor acceptor =
        Acceptor.open(loop, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    var client = StreamSocket.open(loop, StandardProtocolFamily.INET);
    client.setNoDelay(true);
    client.connect(acceptor.localAddress()).await();
    StreamSocket server = acceptor.accept().await();
    acceptor.close();
    return new StreamSocket.Pair(client, server);
  }

  // A writer that never pauses, against a reader between two attempts.
  // r[verify loop.op.no-lost-edge]
  @EveryBackend
  void aStreamIsReadToItsEnd(Backend backend) throws Exception {
    long total = LoopSupport.rounds(20_000, 400_000);
    try (Driven driven = Driven.open(backend)) {
      var pair = tcp(driven);
      var read = new AtomicLong();
      TransferOperation reading = pair.first().readSome(arena.allocate(7));
      reading.start(
          new Completion<>() {
            @Override
            public void completed(Operation<? extends Integer> operation) {
              if (operation.hasValue() && reading.bytes() > 0) {
                read.addAndGet(reading.bytes());
                reading.start(this);
              }
            }
          });
      try (Fd blocking = FdFlags.duplicate(SYS, pair.second().descriptor())) {
        FdFlags.setNonBlocking(SYS, blocking.number(), false);
        MemorySegment some = arena.allocate(10);
        for (long sent = 0; sent < total; ) {
          long result = SYS.write(blocking.number(), some, 1 + sent % 10);
          assertThat(result).isPositive();
          sent += result;
        }
      }
      LoopSupport.await(() -> read.get() >= total);
      pair.first().close();
      pair.second().close();
    }
  }
}
