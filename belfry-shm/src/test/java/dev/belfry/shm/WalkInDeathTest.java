package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Errno;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.RobustMutex;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Guests that this host did not spawn, without a bell, die without a goodbye. */
@Timeout(120)
final class WalkInDeathTest {
  @TempDir private static Path programs;
  @TempDir private Path directory;

  private final Sys sys = Sys.forAnyThread();
  private final Notices notices = new Notices();
  private @Nullable PidFd stranger;

  private HostOptions options(Placement placement) {
    return HostOptions.DEFAULT
        .withPath(directory.resolve("hub"))
        .withPlacement(placement)
        .withConfig(HostFixture.CONFIG)
        .withWalkIns(notices.options());
  }

  private SteppedGuest walkIn(List<String> program) throws IOException {
    var command = new ArrayList<>(program);
    command.add("--hub-path=" + directory.resolve("hub"));
    SteppedGuest guest =
        SteppedGuest.start(
            streams -> {
              stranger = streams.apply(Spawn.command(command)).start(sys);
              return null;
            });
    guest.step("attach", "attached");
    return guest;
  }

  private void killStranger() throws IOException {
    try (PidFd killed = Objects.requireNonNull(stranger)) {
      killed.sendSignal(Signo.KILL);
      killed.awaitExit();
    }
  }

  static Stream<Arguments> guests() throws Exception {
    Named<List<String>> java = Named.of("Java", SteppedGuest.JAVA);
    Named<List<String>> c = Named.of("C", new CGuests(programs).stepping());
    return Stream.of(Placement.values())
        .flatMap(it -> Stream.of(Arguments.of(it, java), Arguments.of(it, c)));
  }

  /** Two messages, one after the other, so that the host has seen the guest alive. */
  private void exchangeTwo(SteppedGuest guest) throws Exception {
    assertThat(notices.next()).isEqualTo("attached");
    for (int id = 1; id <= 2; id++) {
      guest.step("send %d 1000".formatted(id), "SENT");
      assertThat(notices.next()).isEqualTo("message %d 1000".formatted(id));
    }
  }

  // r[verify shm.crash.stranger]
  @ParameterizedTest
  @MethodSource("guests")
  void aKilledWalkInIsNoticedAndItsEntryUsedAgain(Placement placement, List<String> program)
      throws Exception {
    try (HostFixture fixture = HostFixture.of(options(placement))) {
      for (int i = 0; i < 2; i++) {
        try (SteppedGuest guest = walkIn(program)) {
          exchangeTwo(guest);
          CountDownLatch distraction = fixture.distract();
          guest.step("send 3 900", "SENT"); // unread when it dies
          guest.step("write 500", "written"); // and a slot that is never announced
          killStranger();
          distraction.countDown();
        }
        List<String> last = List.of(notices.next(), notices.next());
        assertThat(last).contains("message 3 900").anyMatch(it -> it.startsWith("dying"));
        assertThat(notices.next()).isEqualTo("gone null");
        fixture.assertAllFree();
      }
      assertThat(notices.all()).hasSize(2 * 6).doesNotContain("dying GOODBYE");
    }
  }

  @ParameterizedTest
  @MethodSource("guests")
  void aWalkInThatLeavesIsNoDeath(Placement placement, List<String> program) throws Exception {
    try (HostFixture fixture = HostFixture.of(options(placement));
        SteppedGuest guest = walkIn(program)) {
      exchangeTwo(guest);
      guest.step("detach", "detached");
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      assertThat(notices.next()).isEqualTo("gone null"); // on its word, as its process is alive
      fixture.assertAllFree();
      killStranger();
    }
  }

  /** It used to read on what it had seen before, from an entry that was no longer its own. */
  // r[verify shm.guest.detach]
  @ParameterizedTest
  @MethodSource("guests")
  void aWalkInThatHasLeftReadsNoMoreWhenItsEntryIsFree(Placement placement, List<String> program)
      throws Exception {
    MessageHandler answering =
        (peer, message) -> {
          for (int id = 7; id <= 8; id++) {
            byte[] bytes = Sides.payload(10, id);
            peer.send(MessageKind.REQUEST, id, 0, bytes, 0, bytes.length);
          }
          notices.onMessage(peer, message);
        };
    HostOptions host = options(placement).withWalkIns(notices.options().withHandler(answering));
    try (HostFixture fixture = HostFixture.of(host);
        SteppedGuest guest = walkIn(program)) {
      assertThat(notices.next()).isEqualTo("attached");
      guest.step("send 1 10", "SENT");
      assertThat(notices.next()).isEqualTo("message 1 10");
      guest.step("receive", "REQUEST 7 10");
      guest.step("detach", "detached");
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      assertThat(notices.next()).isEqualTo("gone null");
      fixture.assertAllFree();
      guest.step("receive", "over detached");
      killStranger();
    }
  }

  /** Only guests seen attached used to be noticed: such an entry was lost, with what was sent. */
  // r[verify shm.host.poll-peers]
  @ParameterizedTest
  @MethodSource("guests")
  void aWalkInThatLeavesBeforeTheHostLooksHasBeenThere(Placement placement, List<String> program)
      throws Exception {
    try (HostFixture fixture = HostFixture.of(options(placement))) {
      CountDownLatch distraction = fixture.distract();
      try (SteppedGuest guest = walkIn(program)) {
        guest.step("detach", "detached");
        distraction.countDown();
        assertThat(notices.next()).isEqualTo("attached");
        assertThat(notices.next()).isEqualTo("dying GOODBYE");
        assertThat(notices.next()).isEqualTo("gone null");
        fixture.assertAllFree();
        killStranger();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatAWalkInSentThatLeftBeforeTheHostLooksIsReceived(Placement placement) throws Exception {
    byte[] bytes = Sides.payload(900, 3);
    try (HostFixture fixture = HostFixture.of(options(placement))) {
      int entries = HostFixture.CONFIG.maxGuests();
      for (int visit = 0; visit < 3; visit++) {
        CountDownLatch distraction = fixture.distract();
        for (int i = 0; i < entries; i++) {
          try (var guest = ShmGuest.walkIn(sys, directory.resolve("hub"), WaitStrategy.ADAPTIVE)) {
            assertThat(guest.send(MessageKind.REQUEST, 3, 0, bytes, 0, 900))
                .isEqualTo(SendResult.SENT);
            guest.detach(Duration.ZERO);
          }
        }
        distraction.countDown();
        for (int i = 0; i < entries; i++) {
          assertThat(notices.next()).isEqualTo("attached");
          assertThat(notices.next()).isEqualTo("message 3 900");
          assertThat(notices.next()).isEqualTo("dying GOODBYE");
          assertThat(notices.next()).isEqualTo("gone null");
        }
        fixture.assertAllFree();
      }
    }
  }

  @Test
  void whereTheKernelRefusesTheLockAGuestWalksInWithoutIt() throws Exception {
    SysTap tap = SysTap.over(sys);
    try (HostFixture fixture = HostFixture.of(options(Placement.V1))) {
      tap.fail("fcntl", Errno.EINVAL);
      fixture.tap.fail("fcntl", Errno.EINVAL);
      try (ShmGuest guest =
          ShmGuest.walkIn(tap.sys(), directory.resolve("hub"), WaitStrategy.ADAPTIVE)) {
        assertThat(notices.next()).isEqualTo("attached");
        byte[] bytes = Sides.payload(9, 1);
        guest.sendBlocking(MessageKind.REQUEST, 1, 0, bytes, 0, 9, Sides.inMillis(30_000));
        assertThat(notices.next()).isEqualTo("message 1 9");
        assertThat(tap.calls("fcntl")).isPositive();
      }
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      assertThat(notices.next()).isEqualTo("gone null");
      fixture.assertAllFree();
    }
  }

  /**
   * A guest in another PID namespace has written a thread id into its mutex that belongs to another
   * process here. The end of that process used to be taken for the guest's, and its entry given
   * away.
   */
  // r[verify shm.crash.stranger]
  @Test
  void aProcessThatHasNotMappedTheSegmentIsNotTheGuest() throws Exception {
    try (HostFixture fixture = HostFixture.of(options(Placement.PADDED));
        TestProcess stranger = TestProcess.start("sleep", "300");
        Segment segment = Segment.attach(sys, directory.resolve("hub"))) {
      CountDownLatch distraction = fixture.distract();
      Link guest = Link.walkIn(segment, WaitStrategy.ADAPTIVE);
      long word = segment.layout().robustMutex(guest.peer());
      segment.memory().mapping().set(ValueLayout.JAVA_INT, word, stranger.pid());
      distraction.countDown();
      assertThat(notices.next()).isEqualTo("attached");
      Peer peer = fixture.host().peers().getFirst();
      assertThat(peer.pid()).isEmpty();
      stranger.kill();
      stranger.exitCode();
      byte[] bytes = Sides.payload(9, 1);
      for (int i = 1; i <= 2; i++) { // in two rounds, the second of which is after the death
        assertThat(guest.outbox().send(MessageKind.REQUEST, 1, 0, bytes, 0, 9))
            .isEqualTo(SendResult.SENT);
        assertThat(notices.next()).isEqualTo("message 1 9");
      }
      assertThat(peer.isAttached()).isTrue();
      guest.leave(Sides.inMillis(30_000));
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      segment.memory().mapping().set(ValueLayout.JAVA_INT, word, 0);
      assertThat(notices.next()).isEqualTo("gone null");
    }
  }

  /** Each such look, up to one a second, used to leak a descriptor. */
  // r[verify shm.crash.stranger]
  @Test
  void aProcessThatEndsWhileTheHostLooksAtItCostsNoDescriptor() throws Exception {
    SysTap tap = SysTap.over(sys);
    try (Segment host = Segment.createAnonymous(sys, Placement.PADDED, HostFixture.CONFIG);
        TestProcess stranger = TestProcess.start("sleep", "300")) {
      MemorySegment mapping = host.memory().mapping();
      RobustMutex mutex = Segment.mutex(sys, mapping, host.layout(), 1);
      mutex.word().set(ValueLayout.JAVA_INT, 0, stranger.pid());
      tap.script(
          "pidfdOpen",
          (_, arguments) -> {
            int opened = sys.pidfdOpen((int) arguments[0], (int) arguments[1]);
            stranger.kill();
            ProcessHandle.of(stranger.pid()).ifPresent(it -> it.onExit().join());
            return OptionalLong.of(opened);
          });
      Descriptors before = Descriptors.now();
      assertThat(GuestProcess.ownerOf(tap.sys(), mutex, new MappedFile(mapping.address())))
          .isNull();
      assertThat(tap.calls("pidfdOpen")).isEqualTo(1);
      assertThat(before.openedSince()).isEmpty();
    }
  }

  /** Its process used to be unknown, because its status file could not be decoded. */
  // r[verify shm.crash.stranger]
  @Test
  void aWalkInIsKnownThoughTheNameOfItsProgramIsNoText() throws Exception {
    String script = "p=$0/$(printf 'g\\377'); cp \"$1\" \"$p\"; shift; exec \"$p\" \"$@\"";
    var program = new ArrayList<>(List.of("sh", "-c", script, directory.toString()));
    program.addAll(new CGuests(programs).stepping());
    try (HostFixture fixture = HostFixture.of(options(Placement.PADDED));
        SteppedGuest guest = walkIn(program)) {
      exchangeTwo(guest);
      killStranger();
      assertThat(notices.next()).startsWith("dying");
      assertThat(notices.next()).isEqualTo("gone null");
      fixture.assertAllFree();
    }
  }

  /** Until its process ended, perhaps hours later, the host used to make 500 rounds a second. */
  @ParameterizedTest
  @MethodSource("guests")
  void nobodyHurriesForTheEndOfAWalkInThatWasDisconnected(Placement placement, List<String> program)
      throws Exception {
    try (HostFixture fixture = HostFixture.of(options(placement));
        SteppedGuest guest = walkIn(program)) {
      exchangeTwo(guest);
      PeerLife life = fixture.host().peers().getFirst().life();
      life.peer().disconnect("on purpose");
      assertThat(notices.next()).isEqualTo("dying HOST");
      assertThat(fixture.loop.call(life::isDyingStranger)).isFalse();
      killStranger();
      assertThat(notices.next()).isEqualTo("gone null");
      fixture.assertAllFree();
    }
  }

  /** It leaves, and everything is free although its process lives on; then the process is ended. */
  private void leaveForGood(SteppedGuest guest, HostFixture fixture) throws Exception {
    guest.step("detach", "detached");
    assertThat(notices.next()).isEqualTo("gone null");
    fixture.assertAllFree();
    killStranger();
  }

  /**
   * In the padded placement its entry used to be taken until its process ended, perhaps hours
   * later.
   */
  // r[verify shm.crash.stranger]
  @ParameterizedTest
  @MethodSource("guests")
  void aWalkInThatWasDisconnectedIsGoneWhenItLeaves(Placement placement, List<String> program)
      throws Exception {
    try (HostFixture fixture = HostFixture.of(options(placement));
        SteppedGuest guest = walkIn(program)) {
      exchangeTwo(guest);
      fixture.host().peers().getFirst().disconnect("on purpose");
      assertThat(notices.next()).isEqualTo("dying HOST");
      leaveForGood(guest, fixture);
    }
  }

  /** It used to be told, and then kept from reading it. */
  // r[verify shm.goodbye.payload]
  // r[verify shm.guest.attach]
  @ParameterizedTest
  @MethodSource("guests")
  void aWalkInThatWasDisconnectedCanReadWhy(Placement placement, List<String> program)
      throws Exception {
    try (HostFixture fixture = HostFixture.of(options(placement));
        SteppedGuest guest = walkIn(program)) {
      exchangeTwo(guest);
      fixture.host().peers().getFirst().disconnect("x".repeat(200)); // in a slot
      assertThat(notices.next()).isEqualTo("dying HOST");
      guest.step("receive", "GOODBYE 0 200");
      guest.step("receive", "over evicted");
      guest.step("send 3 1", "OVER");
      leaveForGood(guest, fixture);
    }
  }

  // r[verify shm.goodbye.payload]
  @ParameterizedTest
  @MethodSource("guests")
  void aWalkInThatWroteRubbishCanReadWhatWasWrong(Placement placement, List<String> program)
      throws Exception {
    try (HostFixture fixture = HostFixture.of(options(placement));
        SteppedGuest guest = walkIn(program)) {
      assertThat(notices.next()).isEqualTo("attached");
      guest.step("forge", "forged");
      assertThat(notices.next()).isEqualTo("dying VIOLATION");
      guest.say("receive");
      assertThat(guest.next()).startsWith("GOODBYE 0 ");
      guest.step("receive", "over evicted");
      killStranger();
      assertThat(notices.next()).isEqualTo("gone null");
      fixture.assertAllFree();
    }
  }

  /** Its heartbeat used to be looked for in an entry that had just been recycled. */
  // r[verify shm.crash.heartbeat]
  @ParameterizedTest
  @EnumSource
  void aWalkInThatIsGoneIsNotStuck(Placement placement) throws Exception {
    Duration interval = Duration.ofMillis(200);
    SegmentConfig beating = HostFixture.CONFIG.withHeartbeat(interval);
    try (HostFixture fixture = HostFixture.of(options(placement).withConfig(beating));
        SteppedGuest _ = walkIn(SteppedGuest.JAVA)) {
      assertThat(notices.next()).isEqualTo("attached");
      long attached = System.nanoTime();
      await().until(() -> fixture.beatOtherThan(0) - attached > 3 * interval.toNanos());
      killStranger();
      List<String> end = List.of(notices.nextOtherThan("stuck"), notices.nextOtherThan("stuck"));
      assertThat(end.getLast()).isEqualTo("gone null");
      fixture.assertAllFree();
      assertThat(notices.all()).endsWith("gone null");
    }
  }

  @Test
  void aGuestThatIsKnownToLiveIsNotGoneOnAnybodysWord() throws Exception {
    try (HostFixture fixture = HostFixture.of(options(Placement.V1));
        SteppedGuest guest = walkIn(SteppedGuest.JAVA)) {
      exchangeTwo(guest);
      fixture.host().peers().getFirst().declareGone();
      assertThat(notices.next()).isEqualTo("dying HOST");
      guest.step("send 3 1", "OVER");
      assertThat(fixture.host().segment().peers().state(1)).isEqualTo(PeerState.GOODBYE);
      killStranger();
      assertThat(notices.next()).isEqualTo("gone null");
      fixture.assertAllFree();
    }
  }

  /** It has walked in without our code, as a foreign guest does, and locks nothing. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aGuestOfWhoseEndNobodyTellsCanBeDeclaredGone(boolean disconnected) throws Exception {
    String hub = directory.resolve("hub").toString();
    try (HostFixture fixture = HostFixture.of(options(Placement.V1))) {
      try (TestProcess foreign =
          TestProcess.java(GuestProgram.class, "wait", hub, "ADAPTIVE", "futex")) {
        assertThat(foreign.line()).isEqualTo("attached");
        assertThat(notices.next()).isEqualTo("attached");
        foreign.kill();
        foreign.exitCode();
      }
      Peer peer = fixture.host().peers().getFirst();
      if (disconnected) {
        peer.disconnect("it does not answer");
        assertThat(notices.next()).isEqualTo("dying HOST");
        assertThat(fixture.host().segment().peers().state(1)).isEqualTo(PeerState.GOODBYE);
      } else {
        assertThat(peer.isAttached()).isTrue();
      }
      peer.declareGone();
      if (!disconnected) {
        assertThat(notices.next()).isEqualTo("dying PROCESS");
      }
      assertThat(notices.next()).isEqualTo("gone null");
      fixture.assertAllFree();
      assertThat(notices.all()).hasSize(3);
    }
  }
}
