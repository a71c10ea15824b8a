package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.errno;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.send;
import static dev.belfry.loop.DescriptorSupport.start;
import static dev.belfry.loop.DescriptorSupport.tcp;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.time.Duration;

/** Data that came over TCP and was not read when the socket is closed. */
final class UnreadDataTest {
  private final Arena arena = Arena.ofAuto();

  // Regression: on io_uring the kernel had already delivered the data, and so closed the connection
  // in order: the peer was not told that its data was lost.
  // r[verify loop.fd.close] r[verify loop.backend.surface]
  @EveryBackend
  void tellsThePeerByAReset(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = tcp(loop);
      var reading = start(pair.first().readSome(arena.allocate(2)));
      loop.runUntilEmpty();
      send(pair.second(), "some of it");
      drive(loop, reading::done);
      pair.first().close();
      assertThat(errno(loop, pair.second().readSome(arena.allocate(8))))
          .isEqualTo(Errno.ECONNRESET);
      pair.second().close();
    }
  }

  // Regression: on io_uring the peer saw the end, as if the data had been read.
  // r[verify loop.fd.close] r[verify loop.backend.surface]
  @EveryBackend
  void tellsThePeerByAResetAlsoAfterTheEndOfTheLoop(Backend backend) throws IOException {
    try (EventLoop peers = EventLoop.open(backend)) {
      EventLoop loop = EventLoop.open(backend);
      var pair = tcp(peers, loop);
      var reading = start(pair.second().readSome(arena.allocate(2)));
      loop.runUntilEmpty();
      send(pair.first(), "some of it");
      drive(loop, reading::done);
      loop.close();
      pair.second().close();
      assertThat(errno(peers, pair.first().readSome(arena.allocate(8))))
          .isEqualTo(Errno.ECONNRESET);
      pair.first().close();
    }
  }

  // r[verify loop.fd.close]
  @EveryBackend
  void thereIsNoResetIfAllWasRead(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = tcp(loop);
      var reading = start(pair.first().readSome(arena.allocate(4)));
      loop.runUntilEmpty();
      send(pair.second(), "read");
      drive(loop, reading::done);
      var next = start(pair.first().readSome(arena.allocate(4)));
      var pause = start(loop.scheduler().after(Duration.ofMillis(5)));
      drive(loop, pause::done);
      pair.first().close();
      drive(loop, next::done);
      assertThat(next.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(result(loop, pair.second().readSome(arena.allocate(8))))
          .isEqualTo(TransferOperation.END_OF_FILE);
      pair.second().close();
    }
  }
}
