package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.PidFd;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a spawned guest does first, and what it refuses. */
@Timeout(60)
final class GuestInitTest {
  private final Sys sys = Sys.forAnyThread();
  private Segment segment;
  private Doorbell.Pair bells;
  private @Nullable PidFd child;

  @BeforeEach
  void open() throws Exception {
    segment = Segment.createAnonymous(sys, Placement.V1, HostFixture.CONFIG);
    bells = Doorbell.pair(sys);
  }

  @AfterEach
  void close() throws Exception {
    if (child != null) {
      if (child.reap().isEmpty()) {
        child.sendSignal(Signo.KILL);
        child.awaitExit();
      }
      child.close();
    }
    bells.host().close();
    bells.guest().close();
    segment.close();
  }

  private SteppedGuest start(int peer, int bell) throws IOException {
    var command = new ArrayList<>(SteppedGuest.JAVA);
    command.addAll(new SpawnArguments(Path.of("/proc/self/fd/4"), peer, 3).toArguments());
    return SteppedGuest.start(
        streams -> {
          child =
              streams
                  .apply(Spawn.command(command))
                  .pass(bell)
                  .pass(segment.descriptor())
                  .start(sys);
          return null;
        });
  }

  // r[verify shm.spawn.guest-init]
  @Test
  void aGuestKeepsItsBellToItselfAndClaimsItsEntry() throws Exception {
    int peer = segment.peers().reserve();
    try (SteppedGuest guest = start(peer, bells.guest().descriptor())) {
      guest.step("attach", "attached");
      assertThat(segment.peers().state(peer)).isEqualTo(PeerState.ATTACHED);
      assertThat(bells.host().poll()).isEqualTo(Doorbell.Event.SIGNAL);
      assertThat(isClosedOnExec(3)).isTrue();
      assertThat(isClosedOnExec(4)).as("the segment").isTrue();
    }
  }

  // r[verify shm.spawn.guest-init]
  @ParameterizedTest
  @EnumSource
  void aGuestTakesItsFirstStepsInOrder(Placement placement) throws Exception {
    segment.close();
    segment = Segment.createAnonymous(sys, placement, HostFixture.CONFIG);
    int peer = segment.peers().reserve();
    var command = new ArrayList<>(TestProcess.javaCommand(LoggedGuest.class));
    command.addAll(new SpawnArguments(Path.of("/proc/self/fd/4"), peer, 3).toArguments());
    Pipe out = Pipe.open(sys, true);
    child =
        Spawn.command(command)
            .standard(1, out.writer().number())
            .pass(bells.guest().descriptor())
            .pass(segment.descriptor())
            .start(sys);
    out.writer().close();
    var log = new ArrayList<String>();
    Path said = Path.of("/proc/self/fd/" + out.reader().number());
    try (BufferedReader lines = Files.newBufferedReader(said)) {
      for (String line = ""; line != null && !line.equals("running"); line = lines.readLine()) {
        log.add(line);
      }
    }
    out.reader().close();
    assertThat(log)
        .containsSubsequence(
            "prctl RESERVED", // to die with the host
            "fcntl 3 1 RESERVED", // the bell is close-on-exec
            "mmap RESERVED",
            "fcntl 4 1 RESERVED", // and so is the segment
            placement == Placement.V1 ? "fcntl lock RESERVED" : "setRobustList RESERVED",
            "send ATTACHED"); // announces it
    assertThat(log).filteredOn(it -> it.startsWith("send")).containsExactly("send ATTACHED");
  }

  private boolean isClosedOnExec(int descriptor) throws IOException {
    Path info = Path.of("/proc/%d/fdinfo/%d".formatted(pid(), descriptor));
    String flags =
        Files.readAllLines(info).stream()
            .filter(it -> it.startsWith("flags:"))
            .findAny()
            .orElseThrow();
    int closeOnExec = 02000000;
    return (Integer.parseInt(flags.substring(6).strip(), 8) & closeOnExec) != 0;
  }

  private int pid() {
    return child == null ? -1 : child.pid();
  }

  @Test
  void anIdBeyondTheTableIsRefused() throws Exception {
    try (SteppedGuest guest = start(3, bells.guest().descriptor())) {
      guest.say("attach");
      assertThat(guest.next()).startsWith("failed peer id 3:").contains("entries for 2 guests");
    }
  }

  @Test
  void aDescriptorThatIsNoSocketIsRefused() throws Exception {
    int peer = segment.peers().reserve();
    try (SteppedGuest guest = start(peer, segment.descriptor())) {
      guest.say("attach");
      assertThat(guest.next()).startsWith("failed descriptor 3 is not an open socket");
      assertThat(segment.peers().state(peer)).isEqualTo(PeerState.RESERVED);
    }
  }

  /**
   * A guest with an expired ticket used to write one heartbeat for the guest that has the entry
   * now.
   */
  // r[verify shm.crash.heartbeat]
  @Test
  void whoIsRefusedHasNotBeatenForAnother() throws Exception {
    segment.close();
    SegmentConfig beating = new SegmentConfig(1020, 100, 2, 4, 1024, 4, 8, 60_000_000_000L);
    segment = Segment.createAnonymous(sys, Placement.V1, beating);
    int peer = segment.peers().walkIn();
    long beat = segment.memory().address(segment.layout().heartbeat(peer), Long.BYTES);
    segment.memory().setLong(beat, 42);
    try (SteppedGuest guest = start(peer, bells.guest().descriptor())) {
      guest.say("attach");
      assertThat(guest.next()).startsWith("failed").contains("is not reserved");
      assertThat(segment.memory().getLongAcquire(beat)).isEqualTo(42);
    }
  }

  @Test
  void anEntryThatIsNotReservedIsRefused() throws Exception {
    try (SteppedGuest guest = start(1, bells.guest().descriptor())) {
      guest.say("attach");
      assertThat(guest.next()).startsWith("failed").contains("entry 1 is not reserved");
      assertThat(segment.peers().state(1)).isEqualTo(PeerState.EMPTY);
    }
  }

  /** A foreign host may hand out datagram sockets, which report no hang-up. */
  @Test
  void aGuestWithADatagramBellWorksAndNoticesTheEndWhenItRings() throws Exception {
    int peer = segment.peers().reserve();
    Sockets.Pair ends = Sockets.pair(sys, Sockets.Type.DATAGRAM, false);
    try (SteppedGuest guest = start(peer, ends.second().number())) {
      ends.second().close();
      guest.step("attach", "attached");
      guest.step("send 1 1", "SENT");
      ends.first().close();
      guest.step("send 2 1", "SENT"); // published nevertheless; the ring fails
      assertThat(guest.next()).isNull(); // it dies with its host
    }
  }

  @Test
  void aHostThatIsGoneIsNoticedBeforeAnythingElse() throws Exception {
    int peer = segment.peers().reserve();
    try (SteppedGuest guest = start(peer, bells.guest().descriptor())) {
      bells.host().close();
      guest.say("attach");
      assertThat(guest.next()).isEqualTo("failed the host that started this guest is gone");
      assertThat(segment.peers().state(peer)).isEqualTo(PeerState.RESERVED);
    }
  }
}
