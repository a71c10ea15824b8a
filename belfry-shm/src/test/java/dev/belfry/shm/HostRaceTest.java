package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hosts that start on one path at the same time, and a guest that cannot wait for one. */
@Timeout(120)
final class HostRaceTest {
  private static final int PROCESSES = 4;

  @TempDir private Path directory;

  // r[verify shm.file.create]
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void ofManyHostsThatStartAtOnceExactlyOneWins(boolean stale) throws Exception {
    String path = directory.resolve("hub").toString();
    if (stale) {
      try (TestProcess dead = TestProcess.java(HostProgram.class, "create", path)) {
        assertThat(dead.line()).isEqualTo("created");
        dead.kill();
        dead.exitCode();
      }
    }
    var hosts = new ArrayList<TestProcess>();
    try {
      for (int i = 0; i < PROCESSES; i++) {
        hosts.add(TestProcess.java(HostProgram.class, "race", path));
      }
      for (TestProcess host : hosts) {
        assertThat(host.line()).isEqualTo("ready");
      }
      for (TestProcess host : hosts) {
        host.say("go");
      }
      var results = new ArrayList<String>();
      for (TestProcess host : hosts) {
        for (int i = 0; i < HostProgram.RACERS; i++) {
          results.add(host.line());
        }
      }
      assertThat(results).filteredOn("won"::equals).hasSize(1);
      assertThat(results)
          .filteredOn("refused IN_USE"::equals)
          .hasSize(PROCESSES * HostProgram.RACERS - 1);
      assertThat(names()).containsExactly("hub");
    } finally {
      hosts.forEach(TestProcess::close);
    }
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(it -> it.getFileName().toString()).toList();
    }
  }

  // r[verify shm.file.create]
  @Test
  void whoPollsForThePathNeverSeesAnIncompleteSegment() throws Exception {
    Path path = directory.resolve("hub");
    var attached = new AtomicInteger();
    var over = new AtomicBoolean();
    var polling = new FutureTask<>(() -> poll(path, attached, over));
    Thread.ofPlatform().daemon().start(polling);
    try {
      for (int i = 0; i < 50; i++) {
        int before = attached.get();
        try (Segment _ = Segment.create(Sys.forAnyThread(), path, Placement.PADDED, Sides.CONFIG)) {
          while (attached.get() == before && !polling.isDone()) {
            Thread.onSpinWait();
          }
        }
      }
    } finally {
      over.set(true);
    }
    assertThat(polling.get(60, TimeUnit.SECONDS)).isEqualTo("saw complete segments only");
  }

  private static String poll(Path path, AtomicInteger attached, AtomicBoolean over)
      throws IOException {
    while (!over.get()) {
      try (Segment segment = Segment.attach(Sys.forAnyThread(), path)) {
        if (segment.slotsUsed(0) != 0 || segment.slotsUsed(1) != 0) {
          return "saw a segment without its slots";
        }
        attached.incrementAndGet();
      } catch (ErrnoException e) {
        if (!e.is(Errno.ENOENT)) {
          throw e;
        }
      } catch (SegmentException incomplete) {
        return "was refused: " + incomplete.getMessage();
      }
    }
    return "saw complete segments only";
  }
}
