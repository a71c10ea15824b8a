package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Signo;
import dev.belfry.testkit.TestProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A C guest, which knows the format only from its own header. */
@Timeout(120)
final class CGuestTest {
  private static final MessageKind[] KINDS = MessageKind.values();

  @TempDir private static Path programs;
  private static List<String> echo;
  private static List<String> stepping;

  @TempDir private Path directory;

  private final Notices notices = new Notices();

  @BeforeAll
  static void compile() throws Exception {
    var guests = new CGuests(programs);
    echo = guests.echo();
    stepping = guests.stepping();
  }

  /** Compares echoes with what was sent. */
  private static final class Echoes implements MessageHandler {
    private final int[] lengths;
    private int count;

    Echoes(int... lengths) {
      this.lengths = lengths;
    }

    static MessageKind kind(int number) {
      return KINDS[number % KINDS.length];
    }

    static long methodId(int number) {
      return number * 0x9e37_79b9_7f4a_7c15L;
    }

    void sendTo(Peer peer) {
      for (int i = 0; i < lengths.length; i++) {
        byte[] bytes = Sides.payload(lengths[i], i);
        assertThat(
                peer.sendBlocking(
                    kind(i), i, methodId(i), bytes, 0, bytes.length, Sides.inMillis(30_000)))
            .isEqualTo(SendResult.SENT);
      }
    }

    @Override
    public void onMessage(Peer peer, Message message) {
      boolean same =
          message.id() == count
              && message.kind() == kind(count)
              && message.methodId() == methodId(count)
              && Arrays.equals(message.toByteArray(), Sides.payload(lengths[count], count));
      if (same) {
        count++;
      }
    }
  }

  // r[verify shm.payload.encoding]
  @ParameterizedTest
  @EnumSource
  void everyKindAndLengthComesBackUnchanged(Placement placement) throws Exception {
    assertEchoes(
        echo,
        HostOptions.DEFAULT.withPlacement(placement).withConfig(HostFixture.CONFIG),
        IntStream.rangeClosed(0, HostFixture.CONFIG.maxPayloadSize()).toArray());
  }

  @ParameterizedTest
  @EnumSource
  void theLongestMessagesComeBackUnchanged(Placement placement) throws Exception {
    assertEchoes(
        echo,
        HostOptions.DEFAULT.withPlacement(placement),
        IntStream.range(0, 100).map(i -> i % 3 == 0 ? i : 65532 - i).toArray());
  }

  // More messages than pockets, so that a guest faster than the host needs slots, too.
  // r[verify shm.placement.pockets]
  @Test
  void messagesInPocketsComeBackUnchanged() throws Exception {
    assertEchoes(
        echo,
        HostOptions.DEFAULT.withConfig(SegmentConfig.DEFAULT.withRingSize(1024)),
        IntStream.range(0, 2000).map(i -> 90 + i % 1100).toArray());
  }

  // r[verify shm.placement.pockets]
  @Test
  void aGuestUsesAPocketAgainOnlyWhenItsMessageWasRead() throws Exception {
    SegmentConfig config = SegmentConfig.DEFAULT.withRingSize(1024).withSlots(2, 65536);
    PeerOptions fetched = PeerOptions.DEFAULT.withListener(notices);
    try (HostFixture fixture = HostFixture.of(HostOptions.DEFAULT.withConfig(config));
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), stepping, fetched)) {
      int sent = 0;
      while (sent < 258) {
        guest.step("send %d 1000".formatted(sent++), "SENT"); // 256 in pockets, two in slots
      }
      guest.step("send %d 1000".formatted(sent), "NO_SLOT");
      guest.step("send %d 1153".formatted(sent), "NO_SLOT");
      var message = new Message();
      for (int i = 0; i < sent; i++) {
        assertThat(guest.peer().receive(message)).isTrue();
        assertThat(message.id()).isEqualTo(i);
        assertThat(message.toByteArray()).isEqualTo(Sides.payload(1000, i));
      }
      guest.step("send 1 1000", "SENT");
      guest.kill();
    }
  }

  /** It used to wait for a slot only, which nobody gives back before the pockets were read. */
  // r[verify shm.placement.pockets]
  @Test
  void aGuestWithoutASlotGoesOnWhenAPocketComesFree() throws Exception {
    SegmentConfig config = SegmentConfig.DEFAULT.withRingSize(1024).withSlots(2, 65536);
    PeerOptions fetched = PeerOptions.DEFAULT.withListener(notices);
    try (HostFixture fixture = HostFixture.of(HostOptions.DEFAULT.withConfig(config));
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), stepping, fetched)) {
      for (int i = 0; i < 258; i++) { // 256 in pockets, two in slots
        guest.step("send %d 1000".formatted(i), "SENT");
      }
      guest.step("block 258 1000", "blocking");
      var message = new Message();
      for (int i = 0; i < 3; i++) {
        assertThat(guest.peer().receive(message)).isTrue();
      }
      guest.expect("SENT");
      assertThat(guest.peer().slotsUsed()).isEqualTo(2);
      guest.kill();
    }
  }

  @Test
  void theProgramThatTheReadmeShowsWorks() throws Exception {
    assertEchoes(new CGuests(programs).readme(), HostOptions.DEFAULT, 0, 1, 1000);
  }

  private void assertEchoes(List<String> program, HostOptions options, int... lengths)
      throws Exception {
    var echoes = new Echoes(lengths);
    try (HostFixture fixture = HostFixture.of(options)) {
      ShmHost host = fixture.host();
      SpawnTicket ticket = host.addPeer(notices.options().withHandler(echoes));
      Peer peer = host.spawn(program, ticket);
      echoes.sendTo(peer);
      while (fixture.loop.call(() -> echoes.count) < lengths.length) {
        Thread.onSpinWait(); // until the test times out
      }
      SegmentSnapshot snapshot = SegmentSnapshot.of(host.segment());
      assertThat(snapshot.hostFreeSlots()).isEqualTo(snapshot.config().slotsPerGuest());
      assertThat(snapshot.peers().getFirst().freeSlots())
          .isEqualTo(snapshot.config().slotsPerGuest());
      host.goodbye(Duration.ofSeconds(30)).get(30, TimeUnit.SECONDS);
      assertThat(notices.all()).containsExactly("attached", "dying GOODBYE", "gone exit code 0");
    }
  }

  @ParameterizedTest
  @EnumSource
  void aGuestWalksInAndIsAnswered(Placement placement) throws Exception {
    Path path = directory.resolve("segment");
    var echoes = new Echoes(0, 32, 33, 96, 97, 1000);
    HostOptions options =
        HostOptions.DEFAULT
            .withPlacement(placement)
            .withConfig(HostFixture.CONFIG)
            .withPath(path)
            .withWalkIns(notices.options().withHandler(echoes));
    try (HostFixture fixture = HostFixture.of(options);
        TestProcess guest = TestProcess.start(echo.getFirst(), "--hub-path=" + path)) {
      assertThat(notices.next()).isEqualTo("attached");
      echoes.sendTo(fixture.host().peers().getFirst());
      while (fixture.loop.call(() -> echoes.count) < 6) {
        Thread.onSpinWait();
      }
      fixture.host().goodbye(Duration.ofSeconds(30)).get(30, TimeUnit.SECONDS);
      assertThat(guest.exitCode()).isZero();
      assertThat(guest.rest()).isEmpty();
      assertThat(notices.all()).containsExactly("attached", "dying GOODBYE", "gone null");
    }
  }

  /** A pair of empty parentheses used to follow the reason. */
  @Test
  void aGuestSaysWhyItEnds() throws Exception {
    Path path = directory.resolve("segment");
    HostOptions options =
        HostOptions.DEFAULT
            .withConfig(HostFixture.CONFIG)
            .withPath(path)
            .withWalkIns(PeerOptions.DEFAULT.withListener(notices));
    try (HostFixture fixture = HostFixture.of(options);
        TestProcess guest = TestProcess.start(echo.getFirst(), "--hub-path=" + path)) {
      assertThat(notices.next()).isEqualTo("attached");
      fixture.host().peers().getFirst().disconnect("enough");
      assertThat(guest.line()).isEqualTo(echo.getFirst() + ": the host has given this guest up");
      assertThat(guest.exitCode()).isOne();
    }
  }

  /** A C++ compiler used to report hundreds of errors, but not this one. */
  @ParameterizedTest
  @ValueSource(strings = {"belfry_guest.h", "belfry_worker.h"})
  void aHeaderSaysThatItIsNotForCPlusPlus(String header) throws Exception {
    Path source = directory.resolve("program.c");
    Files.writeString(source, "#include \"" + header + "\"\nint main(void) { return 0; }\n");
    var command = new ArrayList<>(List.of("gcc", "-fsyntax-only", "-D__cplusplus=201703L"));
    command.addAll(List.of("-I" + CGuests.home(), source.toString()));
    try (TestProcess compiler = TestProcess.start(command)) {
      assertThat(compiler.exitCode()).isOne();
      assertThat(compiler.rest())
          .filteredOn(line -> line.contains("error:"))
          .singleElement()
          .asString()
          .contains("is C, and not C++");
    }
  }

  /**
   * The guest used to leave while its receiver was copying, which then freed a slot of the next
   * guest.
   */
  // r[verify shm.guest.detach]
  @ParameterizedTest
  @EnumSource
  void theEntryOfAWalkInIsItsOwnUntilNobodyReceivesAnyMore(Placement placement) throws Exception {
    Path path = directory.resolve("segment");
    HostOptions options =
        HostOptions.DEFAULT
            .withPlacement(placement)
            .withConfig(HostFixture.CONFIG)
            .withPath(path)
            .withWalkIns(PeerOptions.DEFAULT.withListener(notices));
    String program = new CGuests(programs).leaving().getFirst();
    try (HostFixture fixture = HostFixture.of(options);
        TestProcess guest = TestProcess.start(program, "--hub-path=" + path)) {
      assertThat(notices.next()).isEqualTo("attached");
      Peer peer = fixture.host().peers().getFirst();
      assertThat(peer.send(MessageKind.REQUEST, 1, 0, Sides.payload(1000, 1), 0, 1000))
          .isEqualTo(SendResult.SENT);
      assertThat(guest.line()).isEqualTo("copying");
      assertThat(guest.line()).isEqualTo("leaving");
      assertThat(notices.nothingFor(Duration.ofMillis(500))).isTrue();
      guest.say("go on");
      assertThat(guest.line()).isEqualTo("left");
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      assertThat(notices.next()).isEqualTo("gone null");
      fixture.assertAllFree();
      assertThat(guest.exitCode()).isZero();
    }
  }

  /** It used to keep its processor from the host, and not to spin at all where there was one. */
  // r[verify shm.wakeup.consumer-wait]
  @Test
  void aGuestThatSpinsLetsOthersRun() throws Exception {
    Path path = directory.resolve("segment");
    HostOptions options = HostOptions.DEFAULT.withConfig(HostFixture.CONFIG).withPath(path);
    String program = new CGuests(programs).yielding().getFirst();
    try (HostFixture _ = HostFixture.of(options);
        TestProcess guest = TestProcess.start(program, "--hub-path=" + path)) {
      assertThat(guest.line()).isEqualTo("it yields");
    }
  }

  // r[verify shm.wakeup.producer-wait]
  @ParameterizedTest
  @EnumSource
  void aBlockedSendEndsWhenTheHostReadsOne(Placement placement) throws Exception {
    PeerOptions fetched = PeerOptions.DEFAULT.withListener(notices);
    for (int length : new int[] {1, 1000}) {
      try (HostFixture fixture = HostFixture.of(placement);
          SteppedGuest guest = SteppedGuest.attached(fixture.host(), stepping, fetched)) {
        for (int i = 0; i < 3; i++) {
          guest.step("send %d %d".formatted(i, length), "SENT");
        }
        guest.step("send 3 1", "RING_FULL");
        guest.step("block 3 %d".formatted(length), "blocking");
        var message = new Message();
        for (int i = 0; i < 4; i++) {
          assertThat(guest.peer().receiveBlocking(message, Sides.inMillis(30_000)))
              .isEqualTo(Awaited.READY);
          assertThat(message.id()).isEqualTo(i);
          assertThat(message.toByteArray()).isEqualTo(Sides.payload(length, i));
          if (i == 0) {
            guest.expect("SENT");
          }
        }
        guest.say("exit 0");
        notices.next();
        notices.next();
        assertThat(notices.next()).isEqualTo("gone exit code 0");
        fixture.assertAllFree();
      }
    }
  }

  // r[verify shm.wakeup.slot-wait]
  @ParameterizedTest
  @EnumSource
  void aSendWithoutASlotWaitsForOne(Placement placement) throws Exception {
    SegmentConfig twoSlots = SegmentConfig.DEFAULT.withRingSize(16).withSlots(2, 1024);
    PeerOptions fetched = PeerOptions.DEFAULT.withListener(notices);
    HostOptions options = HostOptions.DEFAULT.withPlacement(placement).withConfig(twoSlots);
    try (HostFixture fixture = HostFixture.of(options);
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), stepping, fetched)) {
      guest.step("send 0 1000", "SENT");
      guest.step("send 1 1000", "SENT");
      guest.step("send 2 1000", "NO_SLOT");
      guest.step("send 2 1021", "TOO_LARGE");
      guest.step("block 2 1000", "blocking");
      var message = new Message();
      assertThat(guest.peer().receive(message)).isTrue();
      guest.expect("SENT");
      guest.kill();
    }
  }

  // r[verify shm.guest.detach]
  @ParameterizedTest
  @EnumSource
  void whatAGuestSentBeforeItLeftIsReceived(Placement placement) throws Exception {
    try (HostFixture fixture = HostFixture.of(placement);
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), stepping, notices.options())) {
      guest.step("stage 1 10", "staged");
      guest.step("stage 2 1000", "staged");
      guest.step("detach", "detached");
      guest.step("send 3 1", "OVER");
      guest.step("receive", "over detached");
      guest.say("exit 3");
      for (String told :
          List.of(
              "attached", "message 1 10", "message 2 1000", "dying GOODBYE", "gone exit code 3")) {
        assertThat(notices.next()).isEqualTo(told);
      }
      fixture.assertAllFree();
    }
  }

  // r[verify shm.goodbye.host]
  @ParameterizedTest
  @EnumSource
  void aGuestReadsToTheEndWhenTheHostLeaves(Placement placement) throws Exception {
    try (HostFixture fixture = HostFixture.of(placement);
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), stepping, notices.options())) {
      guest.step("wait", "waiting");
      byte[] bytes = Sides.payload(100, 7);
      assertThat(guest.peer().send(MessageKind.REQUEST, 7, 0, bytes, 0, 100))
          .isEqualTo(SendResult.SENT);
      guest.expect("REQUEST 7 100");
      guest.step("wait", "waiting");
      var goodbye = fixture.host().goodbye(Duration.ofSeconds(60));
      guest.expect("over host_goodbye");
      guest.step("send 1 1", "OVER");
      guest.say("exit 0");
      goodbye.get(30, TimeUnit.SECONDS);
      assertThat(notices.all()).containsSubsequence("attached", "gone exit code 0").hasSize(3);
    }
  }

  // r[verify shm.doorbell.wait]
  @ParameterizedTest
  @EnumSource
  void aGuestInAnEventLoopIsRungFor(Placement placement) throws Exception {
    try (HostFixture fixture = HostFixture.of(placement);
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), stepping, notices.options())) {
      for (int i = 0; i < 20; i++) {
        guest.step("listen", "listening");
        byte[] bytes = Sides.payload(10 * i, i);
        assertThat(guest.peer().send(MessageKind.REQUEST, i, 0, bytes, 0, bytes.length))
            .isEqualTo(SendResult.SENT);
        guest.expect("REQUEST %d %d".formatted(i, bytes.length));
      }
      guest.kill();
    }
  }

  // r[verify shm.crash.heartbeat]
  // r[verify shm.crash.heartbeat-clock]
  @Test
  void aStoppedGuestIsStuckAndComesBack() throws Exception {
    SegmentConfig beating = new SegmentConfig(1020, 100, 2, 4, 1024, 4, 8, 20_000_000);
    long begin = System.nanoTime();
    try (HostFixture fixture = HostFixture.of(HostOptions.DEFAULT.withConfig(beating));
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), stepping, notices.options())) {
      assertThat(notices.next()).isEqualTo("attached");
      long first = fixture.beatOtherThan(0);
      assertThat(first).isBetween(begin, System.nanoTime());
      assertThat(fixture.beatOtherThan(first)).isGreaterThan(first);
      guest.signal(Signo.STOP);
      assertThat(notices.next()).isEqualTo("stuck");
      guest.signal(Signo.CONT);
      guest.step("send 1 1", "SENT");
      // On a busy machine the guest may be reported as stuck more than once.
      assertThat(notices.nextOtherThan("stuck")).isEqualTo("message 1 1");
      guest.kill();
      assertThat(notices.nextOtherThan("stuck"))
          .startsWith("dying"); // so small that any witness may be first
      assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
    }
  }

  /** The guest used to sleep again for the time that was left when it was stopped. */
  // r[verify shm.crash.heartbeat]
  @Test
  void aGuestThatWasStoppedBeatsAsSoonAsItGoesOn() throws Exception {
    try (HostFixture fixture = HostFixture.beating();
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), stepping, notices.options())) {
      fixture.assertBeatsAsSoonAsItGoesOn(guest, notices);
    }
  }
}
