package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.TestProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The kinds of files that a user may name on a command line. */
@Timeout(120)
class NamedFileTest {
  private static final String NOBODY = "http://127.0.0.1:1";

  @TempDir private Path directory = Path.of("");

  private Path pipe() throws Exception {
    Path pipe = directory.resolve("pipe");
    assertThat(TestProcess.start("mkfifo", pipe.toString()).exitCode()).isZero();
    return pipe;
  }

  /** Runs a command on a daemon thread, which may block forever without harm. */
  private static Future<CommandRun> start(List<String> command) {
    var run = new FutureTask<>(() -> CommandRun.of(command.toArray(String[]::new)));
    Thread.ofPlatform().daemon().start(run);
    return run;
  }

  /** Regression: all of them waited forever. */
  @Test
  void noCommandWaitsForAPipeToWhichNobodyWrites() throws Exception {
    String pipe = pipe().toString();
    List<List<String>> commands =
        List.of(
            List.of("validate", pipe),
            List.of("run", pipe),
            List.of("signals", "check", pipe),
            List.of("signals", "--catalog", pipe),
            List.of("call", "--url", NOBODY, "echo", "@" + pipe),
            List.of("call", "--url", NOBODY, "--token-file", pipe, "echo"),
            List.of("signal", NOBODY, "USR1", "--token-file", pipe));
    List<Future<CommandRun>> runs = commands.stream().map(NamedFileTest::start).toList();
    for (int i = 0; i < runs.size(); i++) {
      CommandRun run = runs.get(i).get(60, TimeUnit.SECONDS);
      assertThat(run.err())
          .as("%s", commands.get(i))
          .contains(pipe, "is a pipe to which nobody writes");
      assertThat(run.exitCode()).isPositive();
    }
  }

  /** As a shell passes {@code <(...)}, and as programs hand over secrets. */
  @Test
  void aPipeToWhichSomebodyWritesIsRead() throws Exception {
    Path pipe = pipe();
    Future<CommandRun> run = start(List.of("validate", pipe.toString()));
    Files.writeString(pipe, "workers: {builtin: demo}\n"); // blocks until it is read
    assertThat(run.get(60, TimeUnit.SECONDS).out()).isEqualTo(pipe + " is valid\n");
  }

  /** Regression: it was read until memory ran out. */
  @Test
  void aFileWithoutAnEndIsNoCatalog() {
    assertThat(CommandRun.of("signals", "check", "/dev/zero").err())
        .isEqualTo("belfry signals check: /dev/zero has more than 1 MiB, too much for a catalog\n");
  }
}
