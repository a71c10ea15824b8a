package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Spawned guests die with their host, whatever stands between the two; other guests notice its end.
 */
@Timeout(120)
final class HostDeathTest {
  @TempDir private static Path programs;
  @TempDir private Path directory;

  static Stream<Arguments> walkIns() throws Exception {
    Named<List<String>> java = Named.of("Java", SteppedGuest.JAVA);
    Named<List<String>> c = Named.of("C", new CGuests(programs).stepping());
    return Stream.of(Placement.values())
        .flatMap(it -> Stream.of(Arguments.of(it, java), Arguments.of(it, c)));
  }

  private static TestProcess walkIn(List<String> program, Path path) throws Exception {
    var command = new ArrayList<>(program);
    command.add("--hub-path=" + path);
    TestProcess guest = TestProcess.start(command);
    assertThat(guest.line()).isEqualTo("started");
    guest.say("attach");
    return guest;
  }

  private static TestProcess host(Placement placement, Path path) throws Exception {
    TestProcess host =
        TestProcess.java(
            dev.belfry.shm.HostProgram.class, "create", path.toString(), placement.name());
    assertThat(host.line()).isEqualTo("created");
    return host;
  }

  /** The Java guest used to wait for ever, and to send until the ring was full. */
  // r[verify shm.wakeup.consumer-wait]
  @ParameterizedTest
  @MethodSource("walkIns")
  void aWalkInSeesThatItsHostIsGone(Placement placement, List<String> program) throws Exception {
    Path path = directory.resolve("segment");
    try (TestProcess host = host(placement, path);
        TestProcess guest = walkIn(program, path)) {
      assertThat(guest.line()).isEqualTo("attached");
      guest.say("wait");
      assertThat(guest.line()).isEqualTo("waiting");
      host.kill();
      assertThat(guest.line()).isEqualTo("over host_gone");
      guest.say("send 1 1");
      assertThat(guest.line()).isEqualTo("OVER");
    }
  }

  /**
   * A guest used to walk in and wait for ever. In format 1 the host might be a foreign one that
   * locks nothing.
   */
  @ParameterizedTest
  @MethodSource("walkIns")
  void nobodyWalksIntoWhatAHostThatIsGoneHasLeft(Placement placement, List<String> program)
      throws Exception {
    Path path = directory.resolve("segment");
    try (TestProcess host = host(placement, path)) {
      host.kill();
      host.exitCode();
    }
    try (TestProcess guest = walkIn(program, path)) {
      String gone =
          "failed " + path + " was left behind by a host that is gone; the next one replaces it";
      assertThat(guest.line()).isEqualTo(placement == Placement.PADDED ? gone : "attached");
    }
  }

  /** A host with two guests, one of them behind a shell; prints all process ids. */
  static final class HostProgram {
    private HostProgram() {}

    public static void main(String[] arguments) throws Exception {
      RunningLoop loop = RunningLoop.start();
      HostOptions options = HostOptions.DEFAULT.withConfig(HostFixture.CONFIG);
      if (arguments.length > 0) {
        options = options.withPath(Path.of(arguments[0]));
      }
      ShmHost host = ShmHost.create(loop.loop(), options);
      var wrapped = new ArrayList<>(List.of("sh", "-c", "\"$@\"; exit $?", "sh"));
      wrapped.addAll(SteppedGuest.JAVA);
      for (List<String> command : List.of(SteppedGuest.JAVA, wrapped)) {
        SteppedGuest guest = SteppedGuest.attached(host, command, PeerOptions.DEFAULT);
        guest.step("echo", "echoing");
      }
      ProcessHandle.current().descendants().forEach(it -> System.out.println("pid " + it.pid()));
      System.out.println("ready");
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  @Test
  void nobodyIsLeftWhenTheHostIsKilled() throws Exception {
    try (TestProcess host = TestProcess.java(HostProgram.class)) {
      assertAllDie(host);
    }
  }

  @Test
  void theNextHostReplacesTheFileOfADeadOne() throws Exception {
    Path path = directory.resolve("segment");
    try (TestProcess host = TestProcess.java(HostProgram.class, path.toString())) {
      assertAllDie(host);
    }
    assertThat(path).exists();
    Segment.create(Sys.forAnyThread(), path, Placement.PADDED, HostFixture.CONFIG).close();
    assertThat(path).doesNotExist();
  }

  private static void assertAllDie(TestProcess host) throws Exception {
    var guests = new ArrayList<Long>();
    for (String line = host.line(); !line.equals("ready"); line = host.line()) {
      guests.add(Long.parseLong(line.substring("pid ".length())));
    }
    assertThat(guests).hasSize(3); // two guests and a shell
    long killed = System.nanoTime();
    host.kill();
    while (guests.stream().anyMatch(HostDeathTest::isAlive)) {
      assertThat(System.nanoTime() - killed).isLessThan(Duration.ofSeconds(5).toNanos());
      LockSupport.parkNanos(1_000_000);
    }
    System.out.printf(
        "%d processes were gone %d ms after their host%n",
        guests.size(), (System.nanoTime() - killed) / 1_000_000);
  }

  /** Whether a process is alive; a zombie is not. */
  private static boolean isAlive(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      char state = stat.charAt(stat.lastIndexOf(')') + 2);
      return state != 'Z' && state != 'X';
    } catch (IOException gone) {
      return false;
    }
  }
}
