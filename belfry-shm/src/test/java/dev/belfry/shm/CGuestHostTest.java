package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Fd;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.Processes;
import dev.belfry.linux.RobustMutex;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a C guest notices about the life of its host: before it attaches, and when the host is gone.
 */
@Timeout(120)
final class CGuestHostTest {
  @TempDir private static Path programs;
  private static List<String> stepping;

  private final Sys sys = Sys.forAnyThread();
  private Segment segment;
  private Doorbell.Pair bells;
  private @Nullable PidFd child;

  @BeforeAll
  static void compile() throws Exception {
    stepping = new CGuests(programs).stepping();
  }

  @BeforeEach
  void open() throws Exception {
    segment = Segment.createAnonymous(sys, Placement.PADDED, HostFixture.CONFIG);
    bells = Doorbell.pair(sys);
  }

  @AfterEach
  void close() throws Exception {
    if (child != null) {
      child.close();
    }
    bells.host().close();
    bells.guest().close();
    segment.close();
  }

  private SteppedGuest start(int peer, int bell) throws IOException {
    var command = new ArrayList<>(stepping);
    command.addAll(new SpawnArguments(Path.of("/proc/self/fd/4"), peer, 3).toArguments());
    return SteppedGuest.start(
        streams -> {
          Spawn spawn = streams.apply(Spawn.command(command));
          child = spawn.pass(bell).pass(segment.descriptor()).start(sys);
          bells.guest().close();
          return null;
        });
  }

  private String end() throws IOException {
    return child == null ? "" : child.awaitExit().toString();
  }

  private int mutexWord(int peer) {
    long at = segment.layout().robustMutex(peer);
    return segment.memory().getIntAcquire(segment.memory().address(at, Integer.BYTES));
  }

  // r[verify shm.spawn.guest-init]
  @Test
  void aGuestClaimsItsEntryOnceAndHoldsItsMutex() throws Exception {
    int peer = segment.peers().reserve();
    try (SteppedGuest guest = start(peer, bells.guest().descriptor())) {
      guest.step("attach", "attached");
      assertThat(segment.peers().state(peer)).isEqualTo(PeerState.ATTACHED);
      assertThat(bells.host().poll()).isEqualTo(Doorbell.Event.SIGNAL);
      assertThat(Path.of("/proc/%d/task/%d".formatted(pid(), mutexWord(peer)))).exists();
      for (int inherited : List.of(3, 4)) {
        assertThat(Files.readString(Path.of("/proc/%d/fdinfo/%d".formatted(pid(), inherited))))
            .containsPattern("flags:\\s+02[0-7]{6}\\n"); // close-on-exec
      }
      guest.step("detach", "detached");
      assertThat(mutexWord(peer)).isZero();
      assertThat(segment.peers().state(peer)).isEqualTo(PeerState.GOODBYE);
      guest.say("exit 0");
      assertThat(end()).isEqualTo("exit code 0");
    }
  }

  // r[verify shm.death.detection-methods]
  @Test
  void theKernelMarksTheMutexOfAKilledGuest() throws Exception {
    int peer = segment.peers().reserve();
    try (SteppedGuest guest = start(peer, bells.guest().descriptor())) {
      guest.step("attach", "attached");
      Processes.kill(sys, pid(), Signo.KILL);
      assertThat(end()).isEqualTo("killed by SIGKILL");
      assertThat(mutexWord(peer)).isEqualTo(RobustMutex.OWNER_DIED);
    }
  }

  private int pid() {
    return child == null ? -1 : child.pid();
  }

  /** It used to come half an interval later. */
  // r[verify shm.crash.heartbeat]
  @Test
  void theFirstBeatComesWithTheAttach() throws Exception {
    segment.close();
    SegmentConfig beating = new SegmentConfig(1020, 100, 2, 4, 1024, 4, 8, 60_000_000_000L);
    segment = Segment.createAnonymous(sys, Placement.PADDED, beating);
    int peer = segment.peers().reserve();
    try (SteppedGuest guest = start(peer, bells.guest().descriptor())) {
      guest.step("attach", "attached");
      long beat = segment.memory().address(segment.layout().heartbeat(peer), Long.BYTES);
      assertThat(segment.memory().getLongAcquire(beat)).isPositive();
    }
  }

  /** Bytes of the previous lap used to remain behind a shorter payload. */
  @Test
  void behindAPayloadStandZeros() throws Exception {
    segment.close();
    segment = Segment.createAnonymous(sys, Placement.V1, HostFixture.CONFIG);
    int peer = segment.peers().reserve();
    Link link = Link.toGuest(segment, peer, WaitStrategy.SLEEP);
    var message = new Message();
    long descriptor = segment.layout().ring(peer, Direction.TO_HOST);
    try (SteppedGuest guest = start(peer, bells.guest().descriptor())) {
      guest.step("attach", "attached");
      for (int length : List.of(32, 1000, 32)) { // the first, in a slot, of each lap of four
        guest.step("send 1 " + length, "SENT");
        assertThat(link.inbox().receive(message)).isTrue();
        byte[] expected = length == 32 ? Sides.payload(32, 1) : new byte[32];
        assertThat(inline(descriptor)).isEqualTo(expected);
        for (int i = 0; i < 3; i++) {
          guest.step("send 1 1", "SENT");
          assertThat(link.inbox().receive(message)).isTrue();
        }
      }
      guest.step("send 3 1", "SENT");
      assertThat(inline(descriptor)).isEqualTo(Arrays.copyOf(Sides.payload(1, 3), 32));
    }
  }

  private byte[] inline(long descriptor) {
    return segment.memory().mapping().asSlice(descriptor + 32, 32).toArray(ValueLayout.JAVA_BYTE);
  }

  @Test
  void anEntryThatIsNotReservedIsRefusedAndLeftAlone() throws Exception {
    try (SteppedGuest guest = start(1, bells.guest().descriptor())) {
      guest.step(
          "attach",
          "failed /proc/self/fd/4: entry 1 is not reserved; a ticket is good for one guest, once");
      assertThat(segment.peers().state(1)).isEqualTo(PeerState.EMPTY);
      assertThat(mutexWord(1)).isZero();
      guest.say("exit 0");
      assertThat(end()).isEqualTo("exit code 0");
    }
  }

  @Test
  void anIdBeyondTheTableIsRefused() throws Exception {
    try (SteppedGuest guest = start(3, bells.guest().descriptor())) {
      guest.step("attach", "failed --peer-id=3: /proc/self/fd/4 has entries for 2 guests");
      guest.say("exit 0");
      assertThat(end()).isEqualTo("exit code 0");
    }
  }

  @Test
  void aHostThatIsGoneIsNoticedBeforeTheEntryIsTaken() throws Exception {
    int peer = segment.peers().reserve();
    try (SteppedGuest guest = start(peer, bells.guest().descriptor())) {
      bells.host().close();
      guest.step("attach", "failed the host that started this guest is gone");
      assertThat(segment.peers().state(peer)).isEqualTo(PeerState.RESERVED);
      guest.say("exit 0");
      assertThat(end()).isEqualTo("exit code 0");
    }
  }

  // r[verify shm.doorbell.death]
  @Test
  void aGuestEndsWithItsHostsEndOfTheBell() throws Exception {
    int peer = segment.peers().reserve();
    try (SteppedGuest guest = start(peer, bells.guest().descriptor())) {
      guest.step("attach", "attached");
      guest.step("wait", "waiting");
      bells.host().close();
      assertThat(end()).isEqualTo("killed by SIGKILL");
    }
  }

  @Test
  void aHostThatHasSaidGoodbyeMayHangUp() throws Exception {
    int peer = segment.peers().reserve();
    try (SteppedGuest guest = start(peer, bells.guest().descriptor())) {
      guest.step("attach", "attached");
      guest.step("wait", "waiting");
      segment.sayGoodbye();
      bells.host().close();
      guest.expect("over host_goodbye");
      guest.step("send 1 1", "OVER");
      guest.say("exit 4");
      assertThat(end()).isEqualTo("exit code 4");
    }
  }

  /** Some hosts of format 1 hand out datagram sockets: no hang-up ever comes. */
  // r[verify shm.doorbell.socketpair]
  @Test
  void onADatagramBellTheNextRingShowsThatTheHostIsGone() throws Exception {
    int peer = segment.peers().reserve();
    Sockets.Pair ends = Sockets.pair(sys, Sockets.Type.DATAGRAM, false);
    Fd host = ends.first();
    Fd bell = ends.second();
    try (SteppedGuest guest = start(peer, bell.number())) {
      bell.close();
      guest.step("attach", "attached");
      guest.step("ring", "rung");
      host.close();
      guest.say("ring");
      assertThat(end()).isEqualTo("killed by SIGKILL");
    } finally {
      bell.close();
      host.close();
    }
  }

  /** A host with two C guests, one of them behind a shell; prints all process ids. */
  static final class Program {
    private Program() {}

    public static void main(String[] arguments) throws Exception {
      RunningLoop loop = RunningLoop.start();
      ShmHost host =
          ShmHost.create(loop.loop(), HostOptions.DEFAULT.withConfig(HostFixture.CONFIG));
      List<String> wrapped = List.of("sh", "-c", "\"$@\"; exit $?", "sh", arguments[0]);
      for (List<String> command : List.of(List.of(arguments[0]), wrapped)) {
        SteppedGuest.attached(host, command, PeerOptions.DEFAULT).step("echo", "echoing");
      }
      ProcessHandle.current().descendants().forEach(it -> System.out.println("pid " + it.pid()));
      System.out.println("ready");
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  @Test
  void nobodyIsLeftWhenTheHostIsKilled() throws Exception {
    try (TestProcess host = TestProcess.java(Program.class, stepping.getFirst())) {
      var guests = new ArrayList<Path>();
      for (String line = host.line(); !line.equals("ready"); line = host.line()) {
        guests.add(Path.of("/proc", line.substring("pid ".length()), "stat"));
      }
      assertThat(guests).hasSize(3); // two guests and a shell
      long killed = System.nanoTime();
      host.kill();
      while (guests.stream().anyMatch(CGuestHostTest::runs)) {
        assertThat(System.nanoTime() - killed).isLessThan(Duration.ofSeconds(5).toNanos());
        LockSupport.parkNanos(1_000_000);
      }
      System.out.printf(
          "%d processes were gone %d ms after their host%n",
          guests.size(), (System.nanoTime() - killed) / 1_000_000);
    }
  }

  /** Whether a process runs; a zombie does not. */
  private static boolean runs(Path stat) {
    try {
      return !Files.readString(stat).matches("(?s).*\\) [ZX] .*");
    } catch (IOException gone) {
      return false;
    }
  }
}
