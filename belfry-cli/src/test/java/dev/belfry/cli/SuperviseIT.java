package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A host and its supervisor as real processes. */
class SuperviseIT {
  @TempDir private Path directory = Path.of("");

  /** Starts it in its own session, so that it can be a terminal's process group. */
  private HostProgram start(Path config) throws Exception {
    return start("setsid", config);
  }

  private HostProgram start(String by, Path config) throws Exception {
    Program.Start start =
        Program.of(by, HostProgram.BELFRY.toString(), "run", "--supervise", config.toString())
            .with("XDG_RUNTIME_DIR", directory.toString());
    return HostProgram.start(start, directory);
  }

  @Test
  void itStartsTheHostAgainWithTheNewConfigurationAndEndsWithItsCode() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = start(config)) {
      int first = host.pid();
      assertThat(first).isNotEqualTo(host.program().pid());
      var call = host.sleep(Duration.ofMillis(500));
      Files.writeString(config, "nothing good\n");
      host.program().signal(Signo.HUP);
      host.program().awaitErr("reload rejected");
      assertThat(ProcessHandle.of(first)).isPresent();

      Files.writeString(config, Files.readString(HostProgram.config(directory)) + "# new\n");
      Files.writeString(config, Files.readString(config).replace("name: tested", "name: renewed"));
      host.program().signal(Signo.HUP);
      host.awaitWelcome();
      assertThat(host.firstLine()).startsWith("renewed (pid");
      assertThat(host.pid()).isNotEqualTo(first);
      assertThat(call.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
      assertThat(host.call("upper", "again").get(60, TimeUnit.SECONDS).body()).isEqualTo("AGAIN");

      host.program().signal(Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
      assertThat(ProcessHandle.of(host.pid())).isEmpty();
    }
  }

  /** Regression: it went to a host that was about to exit, and the next one never got it. */
  @ParameterizedTest
  @CsvSource({"TERM, 143", "INT, 130"})
  void whatEndsItDuringAReloadIsNotLost(String signal, int exitCode) throws Exception {
    try (HostProgram host = start(HostProgram.config(directory))) {
      var call = host.sleep(Duration.ofSeconds(5)); // so long the host does not exit
      host.program().signal(Signo.HUP);
      await()
          .atMost(HostProgram.GENEROUS)
          .until(() -> HostProgram.isFree(host.gateway().getPort()));
      host.program().signal(Signo.parse(signal).orElseThrow());
      host.program().awaitErr("already ending because of SIGHUP");

      Program.Result result = host.program().end();
      assertThat(result.exitCode()).isEqualTo(exitCode);
      assertThat(result.out()).doesNotContain("(pid");
      assertThat(call.get(60, TimeUnit.SECONDS).body()).isEqualTo("slept 5000 ms");
    }
  }

  @Test
  void aCtrlCReachesTheHostOnce() throws Exception {
    try (HostProgram host = start(HostProgram.config(directory))) {
      var call = host.sleep(Duration.ofSeconds(1));
      // As a terminal does: the signal goes to the whole foreground process group.
      Processes.kill(Sys.forAnyThread(), -host.program().pid(), Signo.INT);

      assertThat(call.get(60, TimeUnit.SECONDS).body()).isEqualTo("slept 1000 ms");
      Program.Result result = host.program().end();
      assertThat(result.exitCode()).isEqualTo(130);
      assertThat(result.err()).containsOnlyOnce("received SIGINT").doesNotContain("Force quitting");
    }
  }

  @Test
  void aHostThatIsKilledIsNotStartedAgain() throws Exception {
    try (HostProgram host = start(HostProgram.config(directory))) {
      Processes.kill(Sys.forAnyThread(), host.pid(), Signo.KILL);

      Program.Result result = host.program().end();
      assertThat(result.exitCode()).isEqualTo(137);
      assertThat(result.out()).doesNotContain("(pid");
    }
  }

  /**
   * Regression: with {@code --supervise=true}, each child became a supervisor, without end. Here
   * the test is the supervisor, so that at worst there is one too many.
   */
  @Test
  void aChildOfASupervisorIsTheHostWhateverItIsTold() throws Exception {
    Path config = HostProgram.config(directory);
    Program.Start start =
        HostProgram.of(directory, "--supervise", config.toString())
            .with("BELFRY_SUPERVISOR", Long.toString(ProcessHandle.current().pid()));
    try (HostProgram host = HostProgram.start(start, directory)) {
      assertThat(host.pid()).isEqualTo(host.program().pid());
    }
  }

  @Test
  void theOtherSignalsArePassedOnToo() throws Exception {
    try (HostProgram host = start(HostProgram.config(directory))) {
      host.program().signal(Signo.USR1);
      host.program().awaitErr("received SIGUSR1");
      host.program().signal(Signo.USR2);
      host.program().awaitErr("received SIGUSR2");
      host.program().signal(Signo.QUIT);

      Program.Result result = host.program().end();
      assertThat(result.exitCode()).isEqualTo(131);
      assertThat(result.err()).containsOnlyOnce("received SIGUSR1").contains("EventLoop");
    }
  }

  /** Regression: a blocked signal stays pending even if ignored, so it was read and passed on. */
  @Test
  void hangUpStaysIgnoredUnderNohup() throws Exception {
    try (HostProgram host = start("nohup", HostProgram.config(directory))) {
      host.program().signal(Signo.HUP);
      host.program().signal(Signo.TERM); // if HUP had an effect, it would come first

      Program.Result result = host.program().end();
      assertThat(result.exitCode()).isEqualTo(143);
      assertThat(result.err()).contains("received SIGTERM").doesNotContain("SIGHUP");
    }
  }

  @Test
  void theHostEndsInGoodOrderWhenItsSupervisorIsKilled() throws Exception {
    try (HostProgram host = start(HostProgram.config(directory))) {
      ProcessHandle child = ProcessHandle.of(host.pid()).orElseThrow();
      host.program().signal(Signo.KILL);

      await().atMost(HostProgram.GENEROUS).until(() -> !child.isAlive());
      try (var left = Files.list(directory.resolve("belfry"))) { // else its entry would be left
        assertThat(left).extracting(it -> it.getFileName().toString()).containsOnly("admin-token");
      }
    }
  }
}
