package dev.belfry.workers;

import static dev.belfry.workers.Pools.open;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Signo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a worker has left of its crash, and where it is looked for. */
@Timeout(120)
final class CrashFilesTest extends QuickWorkers {
  private static final int PID = 4711;

  private final Instant started = Instant.now().minusSeconds(60);

  @TempDir private Path home;

  private Optional<Path> find(PoolOptions options, boolean coreDumped) {
    return new CrashFiles(options.directory(home), home.resolve("core_pattern"))
        .find(PID, started, coreDumped);
  }

  private Path file(String name) throws IOException {
    Path file = home.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.createFile(file);
  }

  /** It had to be told a second time, with {@code crashFilesIn}. */
  @Test
  void theReportOfAJvmIsWhereTheCommandSays() throws Exception {
    Path report = file("reports/jvm-4711.txt");
    assertThat(find(options("java", "-XX:ErrorFile=reports/jvm-%p.txt", "Main"), false))
        .contains(report);
    JavaWorker worker = JavaWorker.of("Main").withCrashDirectory(home.resolve("crashes"));
    Path another = file("crashes/hs_err_pid4711.log");
    assertThat(find(PoolOptions.of(worker), false)).contains(another);
    assertThat(find(PoolOptions.of(worker.withFlags(List.of("-Xmx64m"))), false)).contains(another);
  }

  @Test
  void orInTheDirectoryThatTheOptionsNameOrInThatOfTheWorker() throws Exception {
    Path here = file("hs_err_pid4711.log");
    assertThat(find(options("start.sh"), false)).contains(here);
    Path named = file("named/hs_err_pid4711.log");
    assertThat(find(options("start.sh").crashFilesIn(home.resolve("named")), false))
        .contains(named);
  }

  @Test
  void aFileOfAnEarlierProcessIsNotTheWorkers() throws Exception {
    Path old = file("hs_err_pid4711.log");
    Files.setLastModifiedTime(old, FileTime.from(started.minusSeconds(1)));
    assertThat(find(options("java", "Main"), false)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "core, core",
    "core, core.4711",
    "core.%p, core.4711",
    "dumps/100%%-%e-%p-%t, dumps/100%-worker.4-4711-1700000000"
  })
  void aCoreFileIsNamedAsTheKernelSays(String pattern, String name) throws Exception {
    Files.writeString(home.resolve("core_pattern"), pattern + "\n");
    Path core = file(name);
    assertThat(find(options("worker"), true)).contains(core);
    assertThat(find(options("worker"), false)).as("if none was written").isEmpty();
    assertThat(
            new CrashFiles(options("worker").directory(home), home.resolve("core_pattern"))
                .find(PID, Instant.now().plusSeconds(60), true))
        .as("one of an earlier process")
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"core.%p, core.4712", "nowhere/core, core", "'|/usr/lib/keep %p', core"})
  void otherFilesAreNone(String pattern, String name) throws Exception {
    Files.writeString(home.resolve("core_pattern"), pattern);
    file(name);
    assertThat(find(options("worker"), true)).isEmpty();
  }

  /** Only the report of a JVM used to be looked for. */
  @Test
  void aWorkerThatIsNoJvmLeavesItsCore() throws Exception {
    boolean piped = Files.readString(CrashFiles.CORE_PATTERN).startsWith("|");
    try (WorkerPool pool = open(after("ulimit -c unlimited").directory(home))) {
      Pools.kill(pid(pool), Signo.SEGV);
      await().until(() -> told.deaths.size() == 1);
      Death death = told.deaths.getFirst();
      if (!piped && death.how().endsWith("(core dumped)")) {
        assertThat(Path.of(death.crashFile())).isNotEmptyFile();
      } else { // a program of this machine has it, or there is no room for it
        assertThat(death.crashFile()).isNull();
      }
    }
  }
}
