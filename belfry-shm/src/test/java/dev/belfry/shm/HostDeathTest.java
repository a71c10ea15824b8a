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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Guests die with their host, whatever stands between the two. */
@Timeout(120)
final class HostDeathTest {
  @TempDir private Path directory;

  /** A host with two guests, one of them behind a shell; says all process ids. */
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

  /** Whether it runs; one that nobody has reaped yet does not. */
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
