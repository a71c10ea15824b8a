package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.belfry.linux.Fd;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
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
    var log = new ArrayList<String>();
    try (BufferedReader lines = run(LoggedGuest.class, peer)) {
      for (String line = ""; line != null && !line.equals("running"); line = lines.readLine()) {
        log.add(line);
      }
    }
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

  /** Starts a program with a ticket; returns what it says. */
  private BufferedReader run(Class<?> program, int peer) throws IOException {
    var command = new ArrayList<>(TestProcess.javaCommand(program));
    command.addAll(new SpawnArguments(Path.of("/proc/self/fd/4"), peer, 3).toArguments());
    Pipe out = Pipe.open(sys, true);
    child =
        Spawn.command(command)
            .standard(1, out.writer().number())
            .pass(bells.guest().descriptor())
            .pass(segment.descriptor())
            .start(sys);
    bells.guest().close();
    out.writer().close();
    try (Fd reader = out.reader()) {
      return Files.newBufferedReader(Path.of("/proc/self/fd/" + reader.number()));
    }
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
  void aHostThatIsGoneIsNoticedBeforeTheEntryIsTaken() throws Exception {
    int peer = segment.peers().reserve();
    try (SteppedGuest guest = start(peer, bells.guest().descriptor())) {
      bells.host().close();
      guest.say("attach");
      assertThat(guest.next()).isEqualTo("failed the host that started this guest is gone");
      assertThat(segment.peers().state(peer)).isEqualTo(PeerState.RESERVED);
    }
  }

  /** Both used to be reported as a goodbye. */
  @Test
  void aHostThatIsGoneIsToldFromOneThatHasSaidGoodbye() throws Exception {
    int peer = segment.peers().reserve();
    bells.host().close();
    assertThatExceptionOfType(SegmentException.class)
        .isThrownBy(() -> GuestLife.checkHost(bells.guest()))
        .matches(e -> e.reason() == SegmentException.Reason.HOST_GONE);
    segment.sayGoodbye();
    try (SteppedGuest guest = start(peer, bells.guest().descriptor())) {
      guest.say("attach");
      assertThat(guest.next()).isEqualTo("failed /proc/self/fd/4 belongs to a host that has left");
    }
  }

  /** A guest for which the JVM reports a fault only when it has nearly attached. */
  static final class LateFault {
    private LateFault() {}

    public static void main(String[] arguments) throws Exception {
      SysTap tap = SysTap.over(Sys.forAnyThread());
      tap.script(
          "send",
          (_, _) -> {
            throw new InternalError("a fault in compiled code");
          });
      try {
        ShmGuest.attach(tap.sys(), arguments, WaitStrategy.ADAPTIVE);
      } catch (SegmentLost | InternalError e) {
        System.out.println(e.getClass().getSimpleName() + " of " + e.getCause());
        Thread.sleep(Long.MAX_VALUE); // until killed
      }
    }
  }

  /** It used to get the JVM's raw error, and to go on holding its entry's lock. */
  // r[verify shm.file.attach]
  @Test
  void aFaultThatIsReportedLateEndsTheAttachLikeAnyOther() throws Exception {
    int peer = segment.peers().reserve();
    try (BufferedReader lines = run(LateFault.class, peer)) {
      assertThat(lines.readLine()).startsWith("SegmentLost of java.lang.InternalError");
    }
    assertThat(bells.host().await()).isEqualTo(Doorbell.Event.DEATH);
    assertThat(new EntryLock(segment, peer).isHeld()).isFalse();
  }
}
