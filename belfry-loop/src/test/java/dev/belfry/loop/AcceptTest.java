package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.onLoop;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.start;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.ResourceLimit;
import dev.belfry.linux.Sys;
import dev.belfry.loop.DescriptorSupport.Probe;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Accepting connections, also when there is no room for them. */
final class AcceptTest {
  private static final InetSocketAddress LOOPBACK =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private static StreamSocket connected(EventLoop loop, Acceptor acceptor) throws IOException {
    StreamSocket client = StreamSocket.open(loop, StandardProtocolFamily.INET);
    return result(loop, client.connect(acceptor.localAddress()));
  }

  // r[verify loop.accept.once]
  @ParameterizedTest
  @ValueSource(ints = {Errno.EMFILE, Errno.ENFILE, Errno.ENOBUFS, Errno.ENOMEM})
  void wantOfRoomIsWaitedFor(int errno) throws IOException {
    try (var tapped = new Tapped(LoopOptions.DEFAULT)) {
      EventLoop loop = tapped.loop;
      Acceptor acceptor = Acceptor.open(loop, LOOPBACK);
      StreamSocket client = connected(loop, acceptor);
      tapped.failFirst("accept4", 3, errno);
      var accept = start(acceptor.accept());
      drive(loop, accept::done);
      assertThat(tapped.calls("accept4")).isEqualTo(4);
      assertThat(loop.metrics().acceptsPostponed()).isEqualTo(3);
      assertThat(FdFlags.isNonBlocking(Sys.forAnyThread(), accept.value().descriptor())).isTrue();
      assertThat(FdFlags.isCloseOnExec(Sys.forAnyThread(), accept.value().descriptor())).isTrue();
      accept.value().close();
      client.close();
      acceptor.close();
    }
  }

  // Regression: every new connection triggered another attempt, however often they came.
  // r[verify loop.accept.once]
  @EveryBackend
  void attemptsAreFewWhileThereIsNoRoom(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      Acceptor acceptor = Acceptor.open(loop, LOOPBACK);
      var accept = start(acceptor.accept());
      loop.runUntilEmpty();
      long parked = tapped.calls("accept4");
      tapped.fail("accept4", Errno.EMFILE);
      long began = System.nanoTime();
      var clients = new ArrayList<StreamSocket>();
      for (int i = 0; i < 40; i++) {
        clients.add(connected(loop, acceptor)); // each causes an event
      }
      loop.runSome(Duration.ofMillis(50));
      long millis = (System.nanoTime() - began) / 1_000_000;
      // After 1, 2, 4 ... 64 ms and then every 100 ms.
      assertThat(tapped.calls("accept4") - parked).isLessThanOrEqualTo(9 + millis / 100);
      tapped.pass("accept4");
      drive(loop, accept::done);
      accept.value().close();
      clients.forEach(Handle::close);
      acceptor.close();
    }
  }

  // r[verify loop.accept.once]
  @EveryBackend
  void connectionsThatAreGoneArePassedOver(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      Acceptor acceptor = Acceptor.open(loop, LOOPBACK);
      for (int errno : List.of(Errno.ECONNABORTED, Errno.EPROTO, Errno.EPERM)) {
        StreamSocket client = connected(loop, acceptor);
        tapped.failFirst("accept4", 5, errno);
        StreamSocket accepted = result(loop, acceptor.accept());
        accepted.close();
        client.close();
      }
      assertThat(loop.metrics().acceptsPostponed()).isZero();
      // Regression: where a sandbox refuses every accept, the loop did nothing else.
      tapped.fail("accept4", Errno.EPERM);
      var accept = start(acceptor.accept());
      var timer = start(loop.scheduler().after(Duration.ofMillis(5)));
      drive(loop, timer::done);
      assertThat(accept.done()).isFalse();
      acceptor.close();
      drive(loop, accept::done);
      assertThat(accept.outcome()).isEqualTo(Outcome.STOPPED);
    }
  }

  // A stop must end an accept that waits for room, though no event would.
  // r[verify loop.accept.once]
  @EveryBackend
  void anAcceptThatWaitsForRoomEndsWithTheLoop(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      Acceptor acceptor = Acceptor.open(tapped.loop, LOOPBACK);
      tapped.fail("accept4", Errno.EMFILE);
      var accept = start(acceptor.accept());
      tapped.loop.runUntilEmpty();
      tapped.loop.close();
      assertThat(accept.outcome()).isEqualTo(Outcome.STOPPED);
      acceptor.close();
    }
  }

  // Regression: the numbers of accepted descriptors were counted as bytes.
  // r[verify loop.op.fair]
  @EveryBackend
  void theShareOfATurnIsCountedInConnections(Backend backend) throws IOException {
    var options = LoopOptions.DEFAULT.withBackend(backend).withTurnLimits(1, 4);
    try (var tapped = new Tapped(options)) {
      EventLoop loop = tapped.loop;
      Acceptor acceptor = Acceptor.open(loop, LOOPBACK);
      var clients = new ArrayList<StreamSocket>();
      for (int i = 0; i < 10; i++) {
        clients.add(connected(loop, acceptor));
      }
      var accepts = new ArrayList<Probe<StreamSocket>>();
      onLoop(
          loop,
          () -> {
            for (int i = 0; i < 10; i++) {
              accepts.add(start(acceptor.accept()));
            }
            // A request is submitted only when the loop is about to wait.
            assertThat(tapped.calls("accept4")).isEqualTo(tapped.isEpoll() ? 4 : 0);
          });
      assertThat(accepts.stream().filter(Probe::done)).hasSizeLessThanOrEqualTo(4);
      drive(loop, accepts.getLast()::done);
      for (var accept : accepts) {
        accept.value().close();
      }
      clients.forEach(Handle::close);
      acceptor.close();
    }
  }

  // Regression: on io_uring each turn accepted one connection, so a busy loop kept many waiting.
  // r[verify loop.accept.once]
  @EveryBackend
  void waitingConnectionsNeedNoTurnEach(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      Acceptor acceptor = Acceptor.open(loop, LOOPBACK);
      var clients = new ArrayList<StreamSocket>();
      for (int i = 0; i < 20; i++) {
        clients.add(connected(loop, acceptor));
      }
      var accepted = new ArrayList<StreamSocket>();
      var accept = acceptor.accept();
      accept.start(
          new Completion<StreamSocket>() {
            @Override
            public void completed(Operation<? extends StreamSocket> done) {
              if (done.hasValue()) {
                accepted.add(accept.value());
                accept.start(this);
              }
            }
          });
      int turns = 0;
      while (accepted.size() < 20) {
        loop.runSome(Duration.ofSeconds(10));
        turns++;
      }
      assertThat(turns).isLessThanOrEqualTo(5);
      accepted.forEach(Handle::close);
      clients.forEach(Handle::close);
      acceptor.close();
    }
  }

  /** Accepts until no descriptor is left, then frees some and goes on. */
  static final class Exhausted {
    private Exhausted() {}

    public static void main(String[] arguments) throws IOException {
      Sys sys = Sys.forAnyThread();
      try (var tapped = new Tapped(Backend.valueOf(arguments[0]))) {
        EventLoop loop = tapped.loop;
        Acceptor acceptor = Acceptor.open(loop, LOOPBACK);
        var clients = new ArrayList<StreamSocket>();
        for (int i = 0; i < 40; i++) {
          clients.add(connected(loop, acceptor));
        }
        // Loads the classes it needs: without descriptors, class files cannot be opened.
        tapped.failFirst("accept4", 1, Errno.EMFILE);
        result(loop, acceptor.accept()).close();
        var fillers = new ArrayList<Fd>();
        var limit = ResourceLimit.DESCRIPTORS.get(sys);
        fillers.add(FdFlags.duplicate(sys, 0));
        long room = fillers.getFirst().number() + 10L;
        ResourceLimit.DESCRIPTORS.set(sys, new ResourceLimit.Value(room, limit.hard()));
        while (fillers.size() < 5) {
          fillers.add(FdFlags.duplicate(sys, 0));
        }
        var accepted = new ArrayList<StreamSocket>();
        AcceptOperation accept = acceptor.accept();
        accept.start(
            new Completion<>() {
              @Override
              public void completed(Operation<? extends StreamSocket> done) {
                if (done.hasValue()) {
                  accepted.add(accept.value());
                  accept.start(this);
                }
              }
            });
        drive(loop, () -> loop.metrics().acceptsPostponed() >= 4);
        System.out.println("full " + (accepted.size() < 39) + " " + accepted.isEmpty());
        fillers.forEach(Fd::close);
        ResourceLimit.DESCRIPTORS.set(sys, limit);
        drive(loop, () -> accepted.size() == 39);
        System.out.println("accepted " + accepted.size());
        accept.cancel();
        drive(loop, () -> loop.inFlight() == 0);
        accepted.forEach(Handle::close);
        clients.forEach(Handle::close);
        acceptor.close();
      } catch (ErrnoException e) {
        System.out.println("failed " + e);
        throw e;
      }
    }
  }

  // r[verify loop.accept.once]
  @EveryBackend
  void aProcessWithoutDescriptorsGoesOnWhenThereAreSome(Backend backend) throws Exception {
    try (var child = TestProcess.java(Exhausted.class, backend.name())) {
      assertThat(child.line("full ")).isEqualTo("true false");
      assertThat(child.line("accepted ")).isEqualTo("39");
      assertThat(child.exitCode()).isZero();
    }
  }
}
