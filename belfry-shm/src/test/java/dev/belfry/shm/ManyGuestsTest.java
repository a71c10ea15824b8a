package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.PidFd;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.CProgram;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many guests at once, and neighbours of a misbehaving guest. */
@Timeout(240)
final class ManyGuestsTest {
  private static final int MAX_GUESTS = 255;
  private static final int SPAWNED = 4;

  @TempDir private Path directory;

  /** As many guests as a segment can have; the end of each is noticed. */
  @Test
  void twoHundredAndFiftyFiveGuestsComeAndDie() throws Exception {
    Path path = directory.resolve("hub");
    var walkIns = new Notices();
    var spawned = new Notices();
    SegmentConfig config = new SegmentConfig(124, 100, MAX_GUESTS, 4, 128, 2, 4, 0);
    HostOptions options =
        HostOptions.DEFAULT.withPath(path).withConfig(config).withWalkIns(walkIns.options());
    try (HostFixture fixture = HostFixture.of(options)) {
      var guests = new ArrayList<SteppedGuest>();
      for (int i = 0; i < SPAWNED; i++) {
        guests.add(SteppedGuest.attached(fixture.host(), spawned.options()));
      }
      int rest = MAX_GUESTS - SPAWNED;
      try (TestProcess crowd =
          TestProcess.java(Crowd.class, path.toString(), Integer.toString(rest))) {
        assertThat(crowd.line("inside ")).isEqualTo(Integer.toString(rest));
        assertThatThrownBy(() -> ShmGuest.walkIn(Sys.forAnyThread(), path, WaitStrategy.SLEEP))
            .isInstanceOf(SegmentException.class)
            .hasMessageContaining("no free peer entry, all 255 are taken");
        assertThatThrownBy(() -> fixture.host().addPeer(PeerOptions.DEFAULT))
            .hasMessageContaining("all 255 are taken");
        awaitAll(walkIns, rest, "attached");
        crowd.kill();
        awaitAll(walkIns, rest, "gone null");
        assertThat(walkIns.all()).contains("dying MUTEX"); // with so many, it is first for some
      }
      for (SteppedGuest guest : guests) {
        guest.kill();
        guest.close();
      }
      awaitAll(spawned, SPAWNED, "gone killed by SIGKILL");
      assertThat(walkIns.all()).hasSize(3 * rest);
      assertThat(spawned.all()).hasSize(3 * SPAWNED);
      fixture.assertAllFree();
    }
  }

  private static void awaitAll(Notices notices, int times, String what) throws Exception {
    while (notices.all().stream().filter(what::equals).count() < times) {
      notices.next();
    }
  }

  /** Guests that come and go lose nothing, although one of them writes garbage each time. */
  // r[verify shm.host.poll-peers]
  @ParameterizedTest
  @EnumSource
  void oneThatWritesRubbishDisturbsNobody(Placement placement) throws Exception {
    List<String> rubbish = List.of(rubbishGuest().toString(), placement.name());
    List<String> stepping = new CGuests(directory).stepping();
    SegmentConfig config = HostFixture.CONFIG.withMaxGuests(4).withRingSize(64);
    var thrownOut = new Notices();
    try (HostFixture fixture =
        HostFixture.of(HostOptions.DEFAULT.withPlacement(placement).withConfig(config))) {
      var neighbours = new ArrayList<SteppedGuest>();
      for (int i = 0; i < 3; i++) {
        neighbours.add(SteppedGuest.attached(fixture.host(), stepping, PeerOptions.DEFAULT));
        neighbours.get(i).step("echo", "echoing");
        exchange(neighbours.get(i).peer(), 200);
      }
      long before = fixture.loop.call(fixture.loop.loop()::inFlight);
      for (int i = 0; i < 10; i++) {
        fixture.host().spawn(rubbish, fixture.host().addPeer(thrownOut.options()));
        for (SteppedGuest neighbour : neighbours) {
          exchange(neighbour.peer(), 200);
        }
        assertThat(thrownOut.next()).isEqualTo("attached");
        assertThat(thrownOut.next()).isEqualTo("dying VIOLATION");
        assertThat(thrownOut.next()).isEqualTo("gone killed by SIGKILL");
      }
      // Nothing is left of those that the host would have to look after.
      List<Peer> left = neighbours.stream().map(SteppedGuest::peer).toList();
      assertThat(fixture.host().peers()).isEqualTo(left).allMatch(Peer::isAttached);
      await()
          .untilAsserted(
              () -> assertThat(fixture.loop.call(fixture.loop.loop()::inFlight)).isEqualTo(before));
      for (SteppedGuest neighbour : neighbours) {
        exchange(neighbour.peer(), 200);
        neighbour.kill();
        neighbour.close();
      }
    }
  }

  /** A C guest that attaches and then writes an impossible message. */
  private Path rubbishGuest() throws Exception {
    return CProgram.compile(directory, ManyGuestsTest.class, "rubbish_guest");
  }

  private static void exchange(Peer peer, int count) {
    var message = new Message();
    for (int i = 0; i < count; i++) {
      byte[] bytes = Sides.payload(i % 1000, i);
      SendResult sent =
          peer.sendBlocking(
              MessageKind.REQUEST, i, 0, bytes, 0, bytes.length, Sides.inMillis(30_000));
      assertThat(sent).isEqualTo(SendResult.SENT);
      assertThat(peer.receiveBlocking(message, Sides.inMillis(30_000))).isEqualTo(Awaited.READY);
      assertThat(message.id()).isEqualTo(i);
      assertThat(Arrays.equals(message.toByteArray(), bytes)).isTrue();
    }
  }

  /** Its process is identified by the mutex it holds, although the host did not spawn it. */
  @Test
  void aGuestMayBeStartedByOtherMeans() throws Exception {
    var notices = new Notices();
    try (HostFixture fixture = HostFixture.of(Placement.PADDED);
        SpawnTicket ticket = fixture.host().addPeer(notices.options())) {
      var children = new ArrayList<PidFd>();
      try (SteppedGuest guest = startByOtherMeans(ticket, children)) {
        guest.step("attach", "attached");
        assertThat(notices.next()).isEqualTo("attached");
        guest.step("send 1 1", "SENT");
        assertThat(notices.next()).isEqualTo("message 1 1");
        endByOtherMeans(guest, children, notices);
      }
      fixture.assertAllFree();
    }
  }

  /** A guest that the host had not seen attach yet used to be taken for one that walked in. */
  // r[verify shm.spawn.ticket]
  @Test
  void aTicketThatIsClosedAfterItsGuestHasComeIsUsedUp() throws Exception {
    var notices = new Notices();
    try (HostFixture fixture = HostFixture.of(Placement.PADDED)) {
      SpawnTicket ticket = fixture.host().addPeer(notices.options());
      var children = new ArrayList<PidFd>();
      try (SteppedGuest guest = startByOtherMeans(ticket, children)) {
        CountDownLatch distraction = fixture.distract();
        guest.step("attach", "attached");
        ticket.close();
        distraction.countDown();
        assertThat(ticket.peer().awaitAttached(FutexWait.FOREVER)).isEqualTo(Awaited.READY);
        assertThat(notices.next()).isEqualTo("attached");
        endByOtherMeans(guest, children, notices);
      }
      fixture.assertAllFree();
    }
  }

  private static SteppedGuest startByOtherMeans(SpawnTicket ticket, List<PidFd> children)
      throws IOException {
    SpawnArguments told = ticket.arguments();
    var command = new ArrayList<>(SteppedGuest.JAVA);
    command.addAll(new SpawnArguments(told.hubPath(), told.peerId(), 3).toArguments());
    return SteppedGuest.start(
        streams -> {
          Spawn spawn = streams.apply(Spawn.command(command)).pass(told.doorbell());
          children.add(spawn.start(Sys.forAnyThread()));
          return null;
        });
  }

  private static void endByOtherMeans(SteppedGuest guest, List<PidFd> children, Notices notices)
      throws Exception {
    guest.say("exit 0");
    notices.expectDying();
    children.getFirst().awaitExit();
    children.getFirst().close();
    assertThat(notices.next()).isEqualTo("gone null");
  }
}
