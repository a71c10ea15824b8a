package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Signo;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The workers of a host: what they are given, and what happens if they cannot start. */
class RunWorkersIT {
  @TempDir private Path directory = Path.of("");

  @Test
  void workersThatCannotStartOpenTheCircuitAndUsr2TriesAgain() throws Exception {
    Path program =
        Files.writeString(directory.resolve("worker"), "#!/bin/sh\necho cannot >&2\nexit 3\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            """
            workers:
              command: [./worker]
              count: 1
              spares: 0
              restart: {first_delay: 1ms, longest_delay: 2ms, crash_limit: 2}
            gateway: {listen: '127.0.0.1:0'}
            admin: {listen: '127.0.0.1:0'}
            """);
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      assertThat(host.firstLine()) // was "1 worker and 0 spares"
          .isEqualTo(
              "belfry (pid %d): no worker is ready, and the log says why".formatted(host.pid()));
      assertThat(host.metric("belfry_circuit_open")).isEqualTo(1);
      assertThat(host.get("/health/ready").statusCode()).isEqualTo(503); // was 200
      assertThat(host.get("/health/live").statusCode()).isEqualTo(200);
      assertThat(host.call("any", "").get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
      host.program().signal(Signo.USR1);
      host.program().awaitErr("2 deaths, no more are started until USR2 comes");
      host.program().signal(Signo.USR2);
      await()
          .atMost(HostProgram.GENEROUS)
          .until(() -> host.metric("belfry_worker_deaths_total") == 4);
      host.program().signal(Signo.TERM);

      assertThat(host.program().end().err())
          .contains(
              "worker-1: cannot",
              "worker-1 died: exit code 3",
              "2 workers in a row died before they had finished a call; no more are started until"
                  + " USR2 comes: belfry signal "
                  + host.pid()
                  + " USR2");
    }
  }

  @Test
  void aWorkerClassOfSomebodyElsesRunsWithItsLimits() throws Exception {
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            """
            workers:
              java:
                main: dev.belfry.cli.SampleWorker
                class_path: ['%s']
                options: [-Xmx32m]
                arguments: [hello]
              count: 1
              spares: 0
              environment: {GREETING: dear}
              limits: {open_files: 321, memory_mib: 2345}
            gateway: {listen: '127.0.0.1:0'}
            admin: {listen: '127.0.0.1:0'}
            """
                .formatted(classes()));
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      assertThat(host.call("about", "").get(60, TimeUnit.SECONDS).body())
          .isEqualTo("hello dear 321 2345");
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  /** Regression: an attacker in a worker could read them there, and raise signals in the host. */
  @Test
  void workersDoNotGetTheTokensOfTheirHost() throws Exception {
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            """
            workers: {builtin: demo, environment: {KEPT: kept}}
            gateway: {listen: '127.0.0.1:0', token_env: CALLS_TOKEN}
            admin: {listen: '127.0.0.1:0', token_env: ADMIN_TOKEN}
            """);
    Program.Start start = HostProgram.of(directory, config.toString());
    for (String name : List.of("CALLS_TOKEN", "ADMIN_TOKEN", "BELFRY_TOKEN")) {
      start.with(name, "secret");
    }
    try (HostProgram host = HostProgram.start(start.with("OTHER", "other"), directory)) {
      assertThat(host.workers()).isNotEmpty();
      for (ProcessHandle worker : host.workers()) {
        assertThat(variables(worker))
            .contains("KEPT", "OTHER")
            .doesNotContain("CALLS_TOKEN", "ADMIN_TOKEN", "BELFRY_TOKEN");
      }
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  private static List<String> variables(ProcessHandle process) throws IOException {
    byte[] bytes = Files.readAllBytes(Path.of("/proc/" + process.pid() + "/environ"));
    return Stream.of(new String(bytes, StandardCharsets.ISO_8859_1).split("\0"))
        .map(variable -> variable.replaceFirst("(?s)=.*", ""))
        .toList();
  }

  /**
   * Regression: without a locale, as in most containers, Java cannot decode such a variable, and
   * workers and supervised hosts had question marks in its place.
   */
  @Test
  void aWorkerHasTheEnvironmentByteForByteInAnyLocale() throws Exception {
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            """
            workers:
              java: {main: dev.belfry.cli.SampleWorker, class_path: ['%s'], arguments: [hello]}
              count: 1
              spares: 0
              environment: {LC_ALL: C.UTF-8}
              limits: {memory_mib: 2345}
            gateway: {listen: '127.0.0.1:0'}
            admin: {listen: '127.0.0.1:0'}
            """
                .formatted(classes()));
    String run =
        "export GREETING=$(printf 'gr\\303\\274n'); exec %s run --supervise %s"
            .formatted(HostProgram.BELFRY, config);
    Program.Start start = HostProgram.byShell(directory, run).with("LC_ALL", "C");
    try (HostProgram host = HostProgram.start(start, directory)) {
      assertThat(host.call("about", "").get(60, TimeUnit.SECONDS).body()).startsWith("hello grün ");
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  /** Returns where the worker's class is. */
  private static Path classes() throws URISyntaxException {
    return Path.of(SampleWorker.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }
}
