package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.loop.Backend;
import dev.belfry.loop.LoopOptions;
import dev.belfry.testkit.SysTap;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How a host detects the ends of its guests, of whatever kind, and what it does then. */
@Timeout(120)
final class DeathTest {
  private final Notices notices = new Notices();

  // r[verify shm.death.dying]
  // r[verify shm.death.gone]
  // r[verify shm.death.detection-methods]
  @ParameterizedTest
  @EnumSource
  void aKilledGuestIsNoticedOnceAndItsLastWordsCount(Placement placement) throws Exception {
    try (HostFixture fixture = HostFixture.of(placement);
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), notices.options())) {
      CountDownLatch distraction = fixture.distract(); // so that they are unread at first
      guest.step("send 1 10", "SENT");
      guest.step("send 2 1000", "SENT");
      guest.kill();
      distraction.countDown();
      assertThat(notices.next()).isEqualTo("attached");
      for (String told = ""; !told.startsWith("gone"); ) {
        told = notices.next();
      }
      assertThat(notices.all()).containsSubsequence("message 1 10", "message 2 1000");
      assertThat(notices.all()).hasSize(5);
      assertThat(notices.all().getLast()).isEqualTo("gone killed by SIGKILL");
      byte[] bytes = new byte[1];
      assertThat(guest.peer().send(MessageKind.REQUEST, 1, 0, bytes, 0, 1))
          .isEqualTo(SendResult.OVER);
      fixture.assertAllFree();
      assertThat(notices.threads()).containsOnly(fixture.loop.thread());
    }
  }

  // r[verify shm.death.process-handle]
  @Test
  void theStatusTellsHowItEnded() throws Exception {
    try (HostFixture fixture = HostFixture.of(Placement.PADDED)) {
      assertEnd(fixture, "exit 3", "gone exit code 3");
      assertEnd(fixture, "kill -9 $$", "gone killed by SIGKILL");
      assertEnd(fixture, "kill -TERM $$", "gone killed by SIGTERM");
      assertEnd(fixture, "ulimit -c 0; kill -ABRT $$", "gone killed by SIGABRT");
      fixture.assertAllFree();
    }
  }

  /** The fixture counts the children, zombies included. */
  // r[verify shm.death.process-handle]
  @Test
  void aThousandGuestsThatAreKilledLeaveNoZombie() throws Exception {
    try (HostFixture fixture = HostFixture.of(Placement.PADDED)) {
      ShmHost host = fixture.host();
      List<String> command = List.of("sh", "-c", "exec sleep 60", "ticket");
      for (int i = 0; i < 1000; i++) {
        Peer peer = host.spawn(command, host.addPeer(notices.options()));
        peer.disconnect("on purpose");
        assertThat(notices.next()).isEqualTo("dying HOST");
        assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
      }
      fixture.assertAllFree();
    }
  }

  private void assertEnd(HostFixture fixture, String script, String end) throws Exception {
    ShmHost host = fixture.host();
    host.spawn(List.of("sh", "-c", script, "ticket"), host.addPeer(notices.options()));
    assertThat(notices.next()).isIn("dying PROCESS", "dying DOORBELL");
    assertThat(notices.next()).isEqualTo(end);
  }

  /**
   * It used to be taken for dead while it was still alive: neither killed nor reaped, and its entry
   * reused.
   */
  // r[verify shm.death.process-handle]
  @Test
  void aChildThatCannotBeWaitedForIsKilledBeforeItIsGone() throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    LoopOptions tapped = LoopOptions.DEFAULT.withBackend(Backend.EPOLL).withSystemCalls(tap.sys());
    HostOptions options = HostOptions.DEFAULT.withConfig(HostFixture.CONFIG);
    try (RunningLoop loop = RunningLoop.start(tapped);
        ShmHost host = ShmHost.create(loop.loop(), options)) {
      SpawnTicket ticket = host.addPeer(notices.options());
      tap.script("fcntl", (_, arguments) -> refuseToDuplicate((int) arguments[1]));
      Peer peer = host.spawn(List.of("sh", "-c", "exec sleep 60", "ticket"), ticket);
      assertThat(notices.next()).isEqualTo("dying PROCESS");
      assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
      assertThat(ProcessHandle.of(peer.pid().orElseThrow())).isEmpty();
    }
  }

  private static OptionalLong refuseToDuplicate(int command) {
    int duplicate = 1030; // F_DUPFD_CLOEXEC
    return command == duplicate ? OptionalLong.of(-Errno.EMFILE) : OptionalLong.empty();
  }

  @Test
  void anExitWithoutGoodbyeIsADeath() throws Exception {
    try (HostFixture fixture = HostFixture.of(Placement.PADDED);
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), notices.options())) {
      guest.say("exit 5");
      assertThat(notices.next()).isEqualTo("attached");
      notices.expectDying();
      assertThat(notices.next()).isEqualTo("gone exit code 5");
      fixture.assertAllFree();
    }
  }

  @Test
  void aGuestThatBecomesAnotherProgramIsKilledAtTheLimit() throws Exception {
    PeerOptions options = notices.options().withKillLimit(Duration.ofMillis(100));
    try (HostFixture fixture = HostFixture.of(Placement.PADDED);
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), options)) {
      guest.say("exec");
      assertThat(notices.next()).isEqualTo("attached");
      notices.expectDying();
      assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
      fixture.assertAllFree();
    }
  }

  @Test
  void aGrandchildThatHoldsTheBellDelaysNothing() throws Exception {
    try (HostFixture fixture = HostFixture.of(Placement.V1);
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), notices.options())) {
      guest.step("hold", "held");
      List<ProcessHandle> holders =
          ProcessHandle.of(guest.peer().pid().orElseThrow()).orElseThrow().children().toList();
      assertThat(holders).hasSize(1);
      guest.kill();
      assertThat(notices.next()).isEqualTo("attached");
      assertThat(notices.next()).isEqualTo("dying PROCESS"); // the only witness that can tell
      assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
      holders.forEach(ProcessHandle::destroyForcibly);
      fixture.assertAllFree();
    }
  }

  @Test
  void aClosedBellIsASignThatHasToComeTrue() throws Exception {
    PeerOptions options = notices.options().withKillLimit(Duration.ofMillis(100));
    try (HostFixture fixture = HostFixture.of(Placement.V1)) {
      ShmHost host = fixture.host();
      host.spawn(
          List.of("sh", "-c", "exec 3>&-; sleep 300; exit 1", "ticket"), host.addPeer(options));
      assertThat(notices.next()).isEqualTo("dying DOORBELL");
      assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
      fixture.assertAllFree();
    }
  }

  // r[verify shm.crash.host-owned]
  @ParameterizedTest
  @EnumSource
  void aGuestThatWritesRubbishIsThrownOutAndItsEntryUsedAgain(Placement placement)
      throws Exception {
    try (HostFixture fixture = HostFixture.of(placement)) {
      for (int i = 0; i < 2; i++) {
        try (SteppedGuest guest = SteppedGuest.attached(fixture.host(), notices.options())) {
          assertThat(guest.peer().id()).isEqualTo(1);
          guest.say("forge");
          assertThat(notices.next()).isEqualTo("attached");
          assertThat(notices.next()).isEqualTo("dying VIOLATION");
          assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
        }
        fixture.assertAllFree();
      }
    }
  }

  @Test
  void aWalkInThatWritesRubbishKeepsItsEntryInQuarantine() throws Exception {
    HostOptions options =
        HostOptions.DEFAULT
            .withPlacement(Placement.V1)
            .withConfig(HostFixture.CONFIG)
            .withWalkIns(notices.options());
    try (HostFixture fixture = HostFixture.of(options);
        ShmGuest guest =
            ShmGuest.walkIn(Sys.forAnyThread(), fixture.path(), WaitStrategy.ADAPTIVE)) {
      assertThat(notices.next()).isEqualTo("attached");
      long head = guest.segment().layout().head(1, Direction.TO_HOST);
      guest.segment().memory().mapping().set(ValueLayout.JAVA_INT, head, 20);
      assertThat(notices.next()).isEqualTo("dying VIOLATION");
      assertThat(guest.send(MessageKind.REQUEST, 1, 0, new byte[1], 0, 1))
          .isEqualTo(SendResult.OVER);
      assertThat(guest.end()).contains(ShmGuest.End.EVICTED);
      assertThat(fixture.host().segment().peers().state(1)).isEqualTo(PeerState.GOODBYE);
      try (ShmGuest another =
          ShmGuest.walkIn(Sys.forAnyThread(), fixture.path(), WaitStrategy.ADAPTIVE)) {
        assertThat(another.peerId()).isEqualTo(2);
        assertThat(notices.next()).isEqualTo("attached");
      }
    }
  }

  private static void fail(boolean byError) {
    if (byError) {
      throw new AssertionError("on purpose");
    }
    throw new IllegalStateException("on purpose");
  }

  /**
   * After an error, as opposed to an exception, the entry used to be forgotten, and closing hung.
   */
  // r[verify shm.death.callback]
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aListenerThatThrowsDisturbsNobody(boolean byError) throws Exception {
    PeerListener throwing =
        new PeerListener() {
          @Override
          public void onDying(Peer peer, Witness witness) {
            fail(byError);
          }

          @Override
          public void onGone(Peer peer, @Nullable ExitStatus status) {
            notices.onGone(peer, status);
            fail(byError);
          }
        };
    var others = new Notices();
    try (HostFixture fixture = HostFixture.of(Placement.PADDED);
        SteppedGuest other = SteppedGuest.attached(fixture.host(), others.options());
        SteppedGuest guest =
            SteppedGuest.attached(fixture.host(), PeerOptions.DEFAULT.withListener(throwing))) {
      guest.kill();
      assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
      other.step("send 1 1", "SENT");
      assertThat(others.next()).isEqualTo("attached");
      assertThat(others.next()).isEqualTo("message 1 1");
      assertThat(others.all()).hasSize(2);
      other.kill();
      others.expectDying();
      assertThat(others.next()).isEqualTo("gone killed by SIGKILL");
      fixture.assertAllFree();
    }
  }

  /** The same for a handler: an error thrown in a round used to end all rounds. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHandlerThatThrowsLosesNoMessageButThatOne(boolean byError) throws Exception {
    MessageHandler throwing =
        (peer, message) -> {
          notices.onMessage(peer, message);
          fail(byError);
        };
    PeerOptions failing = notices.options().withHandler(throwing);
    HostOptions options = HostOptions.DEFAULT.withConfig(HostFixture.CONFIG).withWalkIns(failing);
    try (HostFixture fixture = HostFixture.of(options)) {
      try (ShmGuest guest =
          ShmGuest.walkIn(Sys.forAnyThread(), fixture.path(), WaitStrategy.ADAPTIVE)) {
        assertThat(notices.next()).isEqualTo("attached");
        for (int i = 0; i < 3; i++) {
          byte[] bytes = Sides.payload(9, i);
          guest.send(MessageKind.REQUEST, i, 0, bytes, 0, 9);
          assertThat(notices.next()).isEqualTo("message %d 9".formatted(i));
        }
      }
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      assertThat(notices.next()).isEqualTo("gone null");
      try (SteppedGuest guest = SteppedGuest.attached(fixture.host(), failing)) {
        assertThat(notices.next()).isEqualTo("attached");
        CountDownLatch distraction = fixture.distract(); // so that they are unread
        guest.step("send 1 10", "SENT");
        guest.step("send 2 10", "SENT");
        guest.kill();
        distraction.countDown();
        List<String> last = List.of(notices.next(), notices.next(), notices.next());
        assertThat(last).containsSubsequence("message 1 10", "message 2 10");
        assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
      }
      fixture.assertAllFree();
    }
  }

  // r[verify shm.crash.heartbeat]
  // r[verify shm.crash.heartbeat-clock]
  @Test
  void aStoppedGuestIsStuckAndComesBack() throws Exception {
    SegmentConfig beating = new SegmentConfig(1020, 100, 2, 4, 1024, 4, 8, 20_000_000);
    long begin = System.nanoTime();
    try (HostFixture fixture = HostFixture.of(HostOptions.DEFAULT.withConfig(beating));
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), notices.options())) {
      assertThat(notices.next()).isEqualTo("attached");
      long beat = SegmentSnapshot.of(fixture.host().segment()).peers().getFirst().heartbeatNanos();
      assertThat(beat).isBetween(begin, System.nanoTime());
      guest.signal(Signo.STOP);
      assertThat(notices.next()).isEqualTo("stuck");
      guest.signal(Signo.CONT);
      guest.step("send 1 1", "SENT");
      // On a busy machine the guest may be reported as stuck more than once.
      assertThat(notices.nextOtherThan("stuck")).isEqualTo("message 1 1");
      guest.kill();
      assertThat(notices.nextOtherThan("stuck"))
          .isIn("dying MUTEX", "dying DOORBELL", "dying PROCESS");
      assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
    }
  }

  /** The guest used to sleep again for the time that was left when it was stopped. */
  // r[verify shm.crash.heartbeat]
  @Test
  void aGuestThatWasStoppedBeatsAsSoonAsItGoesOn() throws Exception {
    try (HostFixture fixture = HostFixture.beating();
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), notices.options())) {
      fixture.assertBeatsAsSoonAsItGoesOn(guest, notices);
    }
  }

  @Test
  void aGuestIsStuckOnlyAfterMoreThanTwoIntervals() {
    assertThat(Heartbeat.isStale(100, 50, 120, 10)).isFalse();
    assertThat(Heartbeat.isStale(100, 50, 121, 10)).isTrue();
    assertThat(Heartbeat.isStale(0, 100, 120, 10)).isFalse(); // just attached, no heartbeat yet
    assertThat(Heartbeat.isStale(0, 100, 121, 10)).isTrue();
    assertThat(Heartbeat.isStale(3, 100, 120, 10)).isFalse(); // the heartbeat of a predecessor
    assertThat(Heartbeat.isStale(100, 50, 121, Long.MAX_VALUE)).isFalse(); // used to be stuck
  }

  /** All processes of a container were frozen, and the host was the first to go on. */
  // r[verify shm.crash.heartbeat]
  @Test
  void aGuestThatStoodStillTogetherWithItsHostGetsTimeToBeat() throws Exception {
    long second = 1_000_000_000;
    SegmentConfig beating =
        SegmentConfig.DEFAULT.withMaxGuests(1).withHeartbeat(Duration.ofSeconds(5));
    try (Segment segment = Segment.createAnonymous(Sys.forAnyThread(), Placement.PADDED, beating)) {
      var heartbeat = new Heartbeat(segment, 1);
      heartbeat.begin(0);
      assertThat(heartbeat.hasGotStuck(4 * second)).isFalse();
      assertThat(heartbeat.hasGotStuck(60 * second)).as("neither has the host looked").isFalse();
      for (int at = 61; at <= 70; at++) {
        assertThat(heartbeat.hasGotStuck(at * second)).isFalse();
      }
      assertThat(heartbeat.hasGotStuck(70 * second + 1)).as("that was time enough").isTrue();
    }
  }
}
