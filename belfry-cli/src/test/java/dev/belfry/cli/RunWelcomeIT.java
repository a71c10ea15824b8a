package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Signo;
import dev.belfry.testkit.TestTerminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a host reports about itself, to people and to other programs. */
class RunWelcomeIT {
  @TempDir private Path directory = Path.of("");

  @Test
  void theDemonstrationDoesWhatItSaysToTry() throws Exception {
    try (DemoPorts _ = DemoPorts.hold();
        Program demo = HostProgram.of(directory).start()) {
      assertThat(demo.awaitLine("demo")).endsWith(": 2 workers and 1 spare");
      demo.awaitLine("  console http://127.0.0.1:7071/");
      Path file = directory.resolve("belfry/admin-token");
      // Regression: the token itself was in the output, which under systemd is the journal.
      assertThat(demo.awaitLine("  token")).isEqualTo("  token   in " + file);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .isEqualTo("rw-------");
      String call = demo.awaitLine("curl");
      String kill = demo.awaitLine("kill");
      String end = demo.awaitLine("kill");

      assertThat(shell(call)).isEqualTo(new Program.Result(0, "HELLO, WORKER", ""));
      int victim = Integer.parseInt(kill.replaceFirst("kill -KILL ", ""));
      assertThat(ProcessHandle.of(victim)).isPresent();
      assertThat(shell(kill).exitCode()).isZero();
      await().atMost(HostProgram.GENEROUS).until(() -> ProcessHandle.of(victim).isEmpty());
      assertThat(shell(call).out()).isEqualTo("HELLO, WORKER");
      assertThat(shell(end).exitCode()).isZero();
      Program.Result result = demo.end();
      assertThat(result.exitCode()).isEqualTo(143);
      assertThat(result.err()).contains(" died: killed by SIGKILL pid=" + victim);
    }
  }

  /** Regression: the suggested call had no token, and was refused. */
  @Test
  void theCallToTryShowsTheTokenThatTheGatewayAsksFor() throws Exception {
    Files.writeString(directory.resolve("it's a token"), "0123456789abcdef0123456789abcdef");
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            """
            workers: {builtin: demo}
            gateway: {listen: '127.0.0.1:0', token_file: "it's a token"}
            """);
    try (Program host = HostProgram.of(directory, config.toString()).start()) {
      assertThat(shell(host.awaitLine("curl")))
          .isEqualTo(new Program.Result(0, "HELLO, WORKER", ""));
    }
  }

  private static Program.Result shell(String line) throws Exception {
    // Without curl's progress, which is for people.
    return Program.of("bash", "-c", line.replaceFirst("^curl ", "curl -sS ")).run();
  }

  @Test
  void aNewTokenIsShownToWhoSitsAtATerminal() throws Exception {
    Map<String, String> environment =
        Map.of(
            "XDG_RUNTIME_DIR", directory.toString(),
            "BELFRY_NO_BUILD", "1",
            "JAVA_HOME", System.getProperty("java.home"));
    List<String> command =
        List.of(HostProgram.BELFRY.toString(), "run", HostProgram.config(directory).toString());
    Path file = directory.resolve("belfry/admin-token");
    try (var terminal = TestTerminal.start(200, 40, environment, command)) {
      await().atMost(HostProgram.GENEROUS).until(() -> terminal.shown().contains(file.toString()));
      assertThat(terminal.shown())
          .contains(Files.readString(file).strip() + " (shown only this once");
      terminal.type("\003");
      assertThat(terminal.exitCode()).isEqualTo(130);
    }
  }

  /** Regression: it announced its gateway and commands to try after all was closed. */
  @Test
  void aHostThatIsEndedBeforeItsWorkersAreReadySaysNothingOfThem() throws Exception {
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            """
            workers: {command: [sh, -c, 'exec sleep 600'], count: 1, spares: 0}
            gateway: {listen: '127.0.0.1:0'}
            """);
    try (Program host = HostProgram.of(directory, config.toString()).start()) {
      await().atMost(HostProgram.GENEROUS).until(() -> !entries().isEmpty());
      host.signal(Signo.TERM);

      Program.Result result = host.end();
      assertThat(result.exitCode()).isEqualTo(143);
      assertThat(result.err()).contains("how=\"in good order\"");
      assertThat(result.out()).isEmpty();
    }
  }

  /** Regression: the entry had the path as typed, which means nothing in another directory. */
  @Test
  void itsEntryNamesTheWholePathOfItsConfiguration() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.getFileName().toString())) {
      assertThat(entries()).hasSize(1);
      JsonNode entry = JsonMapper.shared().readTree(Files.readString(entries().getFirst()));
      assertThat(entry.path("config").asString()).isEqualTo(config.toString());
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  /** Returns the finished entries. */
  private List<Path> entries() throws IOException {
    Path run = directory.resolve("belfry");
    if (!Files.isDirectory(run)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(run)) {
      return files.filter(it -> it.getFileName().toString().matches("[^.].*[.]host")).toList();
    }
  }

  /** Regression: the process id was in Arabic digits, which programs do not parse. */
  @Test
  void itsNumbersAreTheSameInEveryLocale() throws Exception {
    Program.Start start =
        HostProgram.of(directory, HostProgram.config(directory).toString())
            .with("BELFRY_JAVA_OPTS", "-Duser.language=ar -Duser.country=EG");
    try (HostProgram host = HostProgram.start(start, directory)) {
      assertThat(host.pid()).isEqualTo(host.program().pid());
      assertThat(host.firstLine()).endsWith(": 2 workers and 1 spare");
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  /** Regression: the log had times without a date, although a log file may cover months. */
  @Test
  void aLineOfTheLogSaysOfWhichDayItIs() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().err().lines())
          .isNotEmpty()
          .allMatch(line -> line.matches("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:.*"));
    }
  }
}
