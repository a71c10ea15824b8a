package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.onLoop;
import static dev.belfry.loop.DescriptorSupport.send;
import static dev.belfry.loop.DescriptorSupport.start;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Message;
import dev.belfry.loop.DescriptorSupport.Probe;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;

/** Cancelling operations. */
final class CancelTest {
  private static final InetSocketAddress LOOPBACK =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final Arena arena = Arena.ofAuto();

  // r[verify loop.cancel.before-start]
  @EveryBackend
  void aTokenThatHasFiredKeepsTheCallFromBeingMade(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      var pair = StreamSocket.pair(loop, loop);
      Acceptor acceptor = Acceptor.open(loop, LOOPBACK);
      StreamSocket client = StreamSocket.open(loop, StandardProtocolFamily.INET);
      send(pair.second(), "there is something");
      var fired = new StopSource();
      fired.requestStop();
      var probes = new ArrayList<Probe<?>>();
      var message = new Message(arena, 1, 0);
      for (Operation<?> operation :
          List.<Operation<?>>of(
              pair.first().readSome(arena.allocate(8)),
              pair.first().readSome(List.of(arena.allocate(8))),
              pair.first().writeAll(arena.allocate(8)),
              pair.first().receive(message),
              pair.first().send(message),
              acceptor.accept(),
              client.connect(acceptor.localAddress()),
              RegularFile.open(loop, Path.of("/dev/null"), 0, 0),
              loop.scheduler().after(Duration.ZERO),
              loop.scheduler().schedule())) {
        probes.add(start(operation, fired.token()));
      }
      for (Probe<?> probe : probes) {
        drive(loop, probe::done);
        assertThat(probe.outcome()).isEqualTo(Outcome.STOPPED);
        assertThat(probe.count()).isEqualTo(1);
      }
      for (String call :
          List.of("recv", "send", "recvmsg", "sendmsg", "accept4", "connect", "openat2")) {
        assertThat(tapped.calls(call)).as(call).isZero();
      }
      pair.first().close();
      pair.second().close();
      client.close();
      acceptor.close();
    }
  }

  // Regression: on epoll, a cancelled coroutine still made every call that need not wait.
  // r[verify loop.cancel.before-start]
  @EveryBackend
  void aCoroutineThatWasInterruptedMakesNoCallEither(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      var pair = StreamSocket.pair(loop, loop);
      TransferOperation write = pair.first().writeAll(arena.allocate(8));
      var coroutine =
          loop.spawn(
              "cancelled",
              () -> {
                Thread.currentThread().interrupt();
                assertThatThrownBy(write::await).isInstanceOf(StoppedException.class);
                pair.first().close();
                assertThatThrownBy(write::await).isInstanceOf(StoppedException.class);
                return Thread.interrupted();
              });
      assertThat(LoopSupport.get(coroutine.result())).isTrue();
      assertThat(LoopSupport.get(pair.second().readSome(arena.allocate(8)).toFuture()))
          .isEqualTo(TransferOperation.END_OF_FILE);
      pair.second().close();
    }
  }

  // r[verify loop.cancel.stopped]
  @EveryBackend
  void aTokenWakesTheLoopAndStopsWhatWaits(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      var pair = StreamSocket.pair(loop, loop);
      Acceptor acceptor = Acceptor.open(loop, LOOPBACK);
      var stop = new StopSource();
      var reading = start(pair.first().readAll(arena.allocate(8)), stop.token());
      var accepting = start(acceptor.accept(), stop.token());
      driven.asleep();
      stop.requestStop();
      LoopSupport.await(reading::done);
      LoopSupport.await(accepting::done);
      assertThat(reading.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(reading.thread()).isSameAs(driven.thread());
      assertThat(accepting.outcome()).isEqualTo(Outcome.STOPPED);
      // The token affects neither an earlier completion nor a later start.
      send(pair.second(), "12345678");
      assertThat(LoopSupport.get(reading.operation.toFuture())).isEqualTo(8);
      pair.first().close();
      pair.second().close();
      acceptor.close();
    }
  }

  // r[verify loop.cancel.stopped]
  @EveryBackend
  void aFutureAndACoroutineAreCancelledToo(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      EventLoop loop = driven.loop();
      var pair = StreamSocket.pair(loop, loop);
      var future = pair.first().readSome(arena.allocate(8)).toFuture();
      driven.asleep();
      future.cancel(true);
      assertThatThrownBy(future::join).isInstanceOf(CancellationException.class);
      var coroutine = loop.spawn("reader", () -> pair.first().readSome(arena.allocate(8)).await());
      driven.asleep();
      coroutine.cancel();
      assertThatThrownBy(() -> LoopSupport.get(coroutine.result()))
          .hasCauseInstanceOf(StoppedException.class);
      // Neither has left an operation in the queue that would take the data.
      send(pair.second(), "mine");
      assertThat(LoopSupport.get(pair.first().readSome(arena.allocate(8)).toFuture())).isEqualTo(4);
      pair.first().close();
      pair.second().close();
    }
  }

  // Regression: a cancel on the loop thread of an operation that another thread had just started
  // was lost, because the loop had not seen the start.
  // r[verify loop.cancel.stopped]
  @EveryBackend
  void whatIsStillOnItsWayToTheLoopCanBeCancelledThere(Backend backend) throws Exception {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = StreamSocket.pair(loop, loop);
      TransferOperation reading = pair.first().readSome(arena.allocate(8));
      var probe = new Probe<>(reading);
      onLoop(
          loop,
          () -> {
            Thread other = Thread.ofPlatform().start(() -> reading.start(probe));
            try {
              LoopSupport.join(other);
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
            reading.cancel();
          });
      drive(loop, probe::done);
      assertThat(probe.outcome()).isEqualTo(Outcome.STOPPED);
      // The next start is not affected.
      var again = start(reading);
      loop.runUntilEmpty();
      assertThat(again.done()).isFalse();
      send(pair.second(), "x");
      drive(loop, again::done);
      assertThat(again.outcome()).isEqualTo(Outcome.VALUE);
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.cancel.unlink]
  @EveryBackend
  void aCancelledTransferSaysHowFarItCame(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      var pair = StreamSocket.pair(loop, loop);
      send(pair.second(), "12345");
      TransferOperation reading = pair.first().readAll(arena.allocate(8));
      var probe = start(reading);
      loop.runUntilEmpty();
      assertThat(probe.done()).isFalse();
      reading.cancel();
      drive(loop, probe::done);
      assertThat(probe.outcome()).isEqualTo(Outcome.STOPPED);
      assertThat(reading.bytes()).isEqualTo(5);
      pair.first().close();
      pair.second().close();
    }
  }
}
