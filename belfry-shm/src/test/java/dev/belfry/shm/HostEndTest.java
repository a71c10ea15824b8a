package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.loop.EventLoop;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How a host leaves, whatever its loop, its segment and its guests are doing. */
final class HostEndTest extends WithHost {

  // r[verify shm.goodbye.host]
  @ParameterizedTest
  @EnumSource
  void aGuestReadsToTheEndWhenTheHostLeaves(Placement placement) throws Exception {
    open(placement);
    try (SteppedGuest guest = SteppedGuest.attached(host(), notices.options())) {
      guest.step("wait", "waiting");
      byte[] bytes = Sides.payload(100, 7);
      guest.peer().send(MessageKind.REQUEST, 7, 0, bytes, 0, 100);
      guest.expect("REQUEST 7 100");
      guest.step("wait", "waiting");
      var goodbye = host().goodbye(Duration.ofSeconds(60));
      guest.expect("over host_goodbye");
      guest.step("send 1 1", "OVER");
      guest.say("exit 0");
      goodbye.get(30, TimeUnit.SECONDS);
      assertThat(notices.all()).containsSubsequence("attached", "gone exit code 0").hasSize(3);
    }
  }

  /** It used to be killed like a guest that had not attached at all. */
  // r[verify shm.goodbye.host]
  @ParameterizedTest
  @EnumSource
  void aGuestThatHasJustComeIsToldThatTheHostLeaves(Placement placement) throws Exception {
    open(placement);
    try (SteppedGuest guest = SteppedGuest.start(host(), SteppedGuest.JAVA, notices.options())) {
      CountDownLatch distraction = fixture.distract();
      guest.step("attach", "attached");
      var goodbye = host().goodbye(Duration.ofSeconds(60));
      distraction.countDown();
      guest.step("wait", "waiting");
      guest.expect("over host_goodbye");
      guest.say("exit 0");
      goodbye.get(30, TimeUnit.SECONDS);
      assertThat(notices.all()).containsSubsequence("attached", "gone exit code 0").hasSize(3);
    }
  }

  /** Its child used to be started nevertheless, and was neither killed nor waited for. */
  // r[verify shm.spawn.ticket]
  @Test
  void aTicketIsGoodForNothingOnceTheHostLeaves() throws Exception {
    open(Placement.PADDED);
    SpawnTicket late = host().addPeer(PeerOptions.DEFAULT);
    List<String> command = List.of("sh", "-c", "exec sleep 60", "ticket");
    try (SteppedGuest guest = SteppedGuest.attached(host(), notices.options())) {
      var goodbye = host().goodbye(Duration.ofSeconds(60));
      assertThatThrownBy(() -> host().spawn(command, late))
          .isInstanceOf(SegmentException.class)
          .hasMessageContaining("leaving");
      guest.say("exit 0");
      goodbye.get(30, TimeUnit.SECONDS);
    }
  }

  /** The ticket used to stay in a host that had ended, with its bell open for ever. */
  // r[verify shm.spawn.ticket]
  @ParameterizedTest
  @ValueSource(strings = {"with a path", "without a path", "whose loop has ended"})
  void noTicketIsMadeForAHostThatLeavesMeanwhile(String which) throws Exception {
    HostOptions options = HostOptions.DEFAULT.withConfig(CONFIG);
    Path path = directory.resolve("hub");
    fixture.open(which.equals("with a path") ? options.withPath(path) : options);
    fixture.tap.script(
        "socketpair",
        (_, _) -> {
          if (which.equals("whose loop has ended")) {
            loop.close();
          }
          host().goodbye(Duration.ZERO).join();
          return OptionalLong.empty();
        });
    assertThatThrownBy(() -> host().addPeer(notices.options()))
        .isInstanceOf(SegmentException.class)
        .hasMessageContaining("leaving");
    loop.close(); // by then it has given the ticket back
    assertThat(host().peers()).isEmpty();
  }

  /** Everything used to be torn down on the interrupted thread while the loop was using it. */
  @Test
  void aThreadThatIsInterruptedInClosingHasTheLoopEndTheGuests() throws Exception {
    open(Placement.PADDED);
    try (SteppedGuest one = SteppedGuest.attached(host(), notices.options());
        SteppedGuest two = SteppedGuest.attached(host(), notices.options())) {
      assertThat(one.peer().id()).isNotEqualTo(two.peer().id());
      Thread.currentThread().interrupt();
      host().close();
      assertThat(Thread.interrupted()).isTrue();
      assertThat(notices.all()).filteredOn("gone killed by SIGKILL"::equals).hasSize(2);
      assertThat(notices.threads()).containsOnly(loop.thread());
    }
  }

  /** Closing used to wait as long as an earlier goodbye allowed: an hour, here. */
  @Test
  void closingTakesNoLongerBecauseSomebodyHasSaidGoodbyeBefore() throws Exception {
    open(Placement.PADDED);
    try (SteppedGuest _ = SteppedGuest.attached(host(), notices.options())) {
      var before = host().goodbye(Duration.ofHours(1));
      host().close(Duration.ofMillis(10));
      assertThat(before).isCompleted();
      assertThat(notices.all()).contains("gone killed by SIGKILL");
    }
  }

  /** Draining the loop used to wait for the limits of guests and hosts that were long gone. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void noTimerIsLeftOfAHostThatHasEnded(boolean started) throws Exception {
    open(Placement.PADDED);
    Duration anHour = Duration.ofHours(1);
    PeerOptions options = notices.options().withAttachLimit(anHour).withKillLimit(anHour);
    try (SteppedGuest killed = SteppedGuest.attached(host(), options)) {
      killed.kill();
      assertThat(notices.next()).isEqualTo("attached");
      notices.expectDying();
      assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
    }
    SpawnTicket ticket = host().addPeer(options);
    if (started) {
      host().spawn(List.of("sh", "-c", "exec sleep 60", "ticket"), ticket);
    }
    host().goodbye(anHour).get(30, TimeUnit.SECONDS);
    ticket.close();
    loop.call(() -> true); // operations cancelled before have ended by now
    assertThat(loop.call(loop.loop()::inFlight)).isZero();
  }

  /** The guest used to attach meanwhile, and to complain that its entry is not reserved. */
  @Test
  void aGuestThatHasNotComeIsKilledBeforeItsEntryIsGivenUp() throws Exception {
    open(Placement.PADDED);
    SpawnTicket ticket = host().addPeer(notices.options());
    host().spawn(List.of("sh", "-c", "exec sleep 60", "ticket"), ticket);
    var states = new ConcurrentLinkedQueue<PeerState>();
    fixture.tap.script(
        "pidfdSendSignal",
        (_, _) -> {
          states.add(host().segment().peers().state(ticket.peer().id()));
          return OptionalLong.empty();
        });
    host().goodbye(Duration.ofHours(1)).get(30, TimeUnit.SECONDS);
    assertThat(states.peek()).isEqualTo(PeerState.RESERVED);
  }

  /** The future used never to complete. */
  @Test
  void aHostWhoseLoopWasStoppedSaysGoodbyeAllTheSame() throws Exception {
    open(Placement.PADDED);
    loop.close();
    host().goodbye(Duration.ofSeconds(1)).get(30, TimeUnit.SECONDS);
    assertThat(host().segment().isClosed()).isTrue();
  }

  /**
   * A thread that closed the host used to tear it down beside the loop, which was still serving it.
   */
  @Test
  void aHostWhoseLoopIsInItsLastTurnEndsOnTheLoop() throws Exception {
    open(Placement.PADDED);
    var killers = new ConcurrentLinkedQueue<Thread>();
    fixture.tap.script(
        "pidfdSendSignal",
        (_, _) -> {
          killers.add(Thread.currentThread());
          return OptionalLong.empty();
        });
    List<String> command = List.of("sh", "-c", "exec sleep 60", "ticket");
    host().spawn(command, host().addPeer(notices.options()));
    var closing =
        new FutureTask<>(
            () -> {
              host().close();
              return host().segment().isClosed();
            });
    loop.call(
        () -> {
          loop.loop().requestStop();
          Thread.ofPlatform().start(closing);
          assertThatThrownBy(() -> closing.get(500, TimeUnit.MILLISECONDS))
              .as("who closes it waits for this turn")
              .isInstanceOf(TimeoutException.class);
          return true;
        });
    assertThat(closing.get(30, TimeUnit.SECONDS)).isTrue();
    assertThat(killers).isNotEmpty().containsOnly(loop.thread());
  }

  /** Not even in its last turn: no thread ever ran the loop. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHostWhoseStoppedLoopNobodyDrivesCanBeClosed(boolean byVirtualThread) throws Exception {
    try (EventLoop undriven = EventLoop.open()) {
      ShmHost host = ShmHost.create(undriven, HostOptions.DEFAULT.withConfig(CONFIG));
      undriven.requestStop();
      var closing =
          new FutureTask<>(
              () -> {
                host.close();
                return host.segment().isClosed();
              });
      (byVirtualThread ? Thread.ofVirtual() : Thread.ofPlatform()).start(closing);
      assertThat(closing.get(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  /**
   * The fault used to end whatever code met it: deaths were not reported, and closing never ended.
   */
  // r[verify shm.file.attach]
  @ParameterizedTest
  @EnumSource
  void aHostWhoseSegmentIsCutNoticesDeathsAndEnds(Placement placement) throws Exception {
    Path path = directory.resolve("hub");
    fixture.open(HostOptions.DEFAULT.withPath(path).withPlacement(placement).withConfig(CONFIG));
    try (SpawnTicket _ = host().addPeer(PeerOptions.DEFAULT);
        SteppedGuest guest = SteppedGuest.attached(host(), notices.options())) {
      assertThat(notices.next()).isEqualTo("attached");
      cut(path);
      guest.kill();
      assertThat(notices.next()).startsWith("dying");
      assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
    }
    host().close();
  }

  /** A child that was still alive used not to be killed, either. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHostWhoseSegmentIsCutTakesItsChildrenWithIt(boolean withoutLoop) throws Exception {
    Path path = directory.resolve("hub");
    fixture.open(HostOptions.DEFAULT.withPath(path).withConfig(CONFIG));
    try (SteppedGuest guest = SteppedGuest.attached(host(), notices.options())) {
      cut(path);
      if (withoutLoop) {
        loop.close();
      }
      host().close();
      assertThat(guest.next()).isNull();
    }
  }

  private static void cut(Path path) throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.truncate(0);
    }
  }
}
