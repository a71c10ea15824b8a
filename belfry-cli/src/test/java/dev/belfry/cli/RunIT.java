package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.belfry.linux.Signo;
import dev.belfry.testkit.TestTerminal;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A host as a real process, with real signals and calls under way. */
class RunIT {
  private static final Duration GENEROUS = Duration.ofSeconds(60);

  @TempDir private Path directory = Path.of("");

  @Test
  void theDemonstrationDoesWhatItSaysToTry() throws Exception {
    try (DemoPorts _ = DemoPorts.hold();
        Program demo = HostProgram.of(directory).start()) {
      assertThat(demo.awaitLine("demo")).endsWith(": 2 workers and 1 spare");
      demo.awaitLine("  console http://127.0.0.1:7071/");
      Path file = directory.resolve("belfry/admin-token");
      // It was in the output itself, which under systemd is the journal.
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
      await().atMost(GENEROUS).until(() -> ProcessHandle.of(victim).isEmpty());
      assertThat(shell(call).out()).isEqualTo("HELLO, WORKER");
      assertThat(shell(end).exitCode()).isZero();
      Program.Result result = demo.end();
      assertThat(result.exitCode()).isEqualTo(143);
      assertThat(result.err()).contains(" died: killed by SIGKILL pid=" + victim);
    }
  }

  /** The call to try had no token, and was refused. */
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
      await().atMost(GENEROUS).until(() -> terminal.shown().contains(file.toString()));
      assertThat(terminal.shown()).contains(Files.readString(file).strip() + " (said only now");
      terminal.type("\003");
      assertThat(terminal.exitCode()).isEqualTo(130);
    }
  }

  private static Program.Result shell(String line) throws Exception {
    // Its progress is for people.
    return Program.of("bash", "-c", line.replaceFirst("^curl ", "curl -sS ")).run();
  }

  @Test
  void hangUpWithABadConfigurationIsRejectedWithLineAndField() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      var call = host.sleep(Duration.ofMillis(700));
      Files.writeString(config, "workers:\n  builtin: demo\n  count: none\n");
      host.program().signal(Signo.HUP);

      host.program().awaitErr("reload rejected");
      assertThat(call.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
      assertThat(host.call("upper", "on").get(60, TimeUnit.SECONDS).body()).isEqualTo("ON");
      host.program().signal(Signo.TERM);
      Program.Result result = host.program().end();
      assertThat(result.exitCode()).isEqualTo(143);
      assertThat(result.err())
          .contains(
              "reload rejected", "line 3: workers.count: \\\"none\\\" must be a whole number");
    }
  }

  /** The log had the name of the exception. */
  @Test
  void hangUpWithoutItsConfigurationIsRejectedInWords() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      Files.delete(config);
      host.program().signal(Signo.HUP);

      host.program().awaitErr("reload rejected");
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().err())
          .contains("the new configuration is invalid: there is no file " + config)
          .doesNotContain("NoSuchFileException");
    }
  }

  /** It ended for a port that somebody else had, and could not come back. */
  @Test
  void hangUpToAPortOfSomebodyElseIsRejected() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.toString());
        var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + taken.getLocalPort();
      String text = Files.readString(config);
      Files.writeString(config, text.replaceFirst("127.0.0.1:0", address));
      host.program().signal(Signo.HUP);

      host.program().awaitErr("reload rejected");
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().err())
          .contains("the gateway cannot listen at " + address + ": the port is taken");
    }
  }

  // r[verify signals.http.not-public]
  @Test
  void noSignalIsRaisedAtTheGateway() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.toString());
        HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest raise =
          HttpRequest.newBuilder(host.gateway().resolve("/admin/signal"))
              .header("Authorization", "Bearer " + host.token())
              .header("Content-Type", "application/json")
              .POST(BodyPublishers.ofString("{\"signal\": \"USR1\"}"))
              .build();
      assertThat(client.send(raise, BodyHandlers.ofString()).statusCode()).isEqualTo(404);

      host.program().signal(Signo.TERM);
      assertThat(host.program().end().err())
          .contains("received SIGTERM")
          .doesNotContain("received SIGUSR1");
    }
  }

  /** It went on behind a terminal that was closed, unseen, and held the ports. */
  @ParameterizedTest
  @ValueSource(strings = {"", "--supervise"})
  void hangUpWithoutAFileEndsItAsThereIsNothingToReload(String option) throws Exception {
    String[] arguments = option.isEmpty() ? new String[0] : new String[] {option};
    try (DemoPorts _ = DemoPorts.hold();
        HostProgram host = HostProgram.start(directory, arguments)) {
      var call = host.sleep(Duration.ofMillis(700));
      host.program().signal(Signo.HUP);

      assertThat(call.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
      Program.Result result = host.program().end();
      assertThat(result.exitCode()).isEqualTo(129);
      assertThat(result.err()).doesNotContain("reload");
    }
  }

  @Test
  void usr1WritesItsStateToTheLog() throws Exception {
    Path config = HostProgram.config(directory, "logging: {format: json}");
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      host.call("echo", "once").get(60, TimeUnit.SECONDS);
      host.program().signal(Signo.USR1);
      host.program().awaitErr("the handlers of SIGUSR1 ran");
      host.program().signal(Signo.TERM);

      String log = host.program().end().err();
      assertThat(log).contains("3 workers, 1 calls finished, 0 failed");
      assertThat(log.lines()).allMatch(line -> line.startsWith("{\"timestamp\":"));
    }
  }

  /** In a file, which goes on for months, there were times without a day. */
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
      assertThat(host.firstLine()) // it was "1 worker and 0 spares"
          .isEqualTo(
              "belfry (pid %d): no worker is ready, and the log says why".formatted(host.pid()));
      assertThat(host.metric("belfry_circuit_open")).isEqualTo(1);
      assertThat(host.get("/health/ready").statusCode()).isEqualTo(503); // it was 200
      assertThat(host.get("/health/live").statusCode()).isEqualTo(200);
      assertThat(host.call("any", "").get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
      host.program().signal(Signo.USR2);
      await().atMost(GENEROUS).until(() -> host.metric("belfry_worker_deaths_total") == 4);
      host.program().signal(Signo.TERM);

      assertThat(host.program().end().err())
          .contains("worker-1: cannot", "worker-1 died: exit code 3", "2 workers in a row died");
    }
  }

  /** It still said where its calls go and what to try, when it had closed all of it. */
  @Test
  void aHostThatIsEndedBeforeItsWorkersAreReadySaysNothingOfThem() throws Exception {
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            """
            workers: {command: [sleep, '600'], count: 1, spares: 0}
            gateway: {listen: '127.0.0.1:0'}
            """);
    try (Program host = HostProgram.of(directory, config.toString()).start()) {
      await().atMost(GENEROUS).until(() -> !entries().isEmpty());
      host.signal(Signo.TERM);

      Program.Result result = host.end();
      assertThat(result.exitCode()).isEqualTo(143);
      assertThat(result.err()).contains("how=\"in good order\"");
      assertThat(result.out()).isEmpty();
    }
  }

  /** The entry had it as it was typed, which means nothing to who reads it elsewhere. */
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

  /** The finished ones. */
  private List<Path> entries() throws IOException {
    Path run = directory.resolve("belfry");
    if (!Files.isDirectory(run)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(run)) {
      return files.filter(it -> it.getFileName().toString().matches("[^.].*[.]host")).toList();
    }
  }

  @Test
  void aWorkerClassOfSomebodyElsesRunsWithItsLimits() throws Exception {
    Path classes = Path.of(RunIT.class.getProtectionDomain().getCodeSource().getLocation().toURI());
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
                .formatted(classes));
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      assertThat(host.call("about", "").get(60, TimeUnit.SECONDS).body())
          .isEqualTo("hello dear 321 2345");
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  /** Whoever takes over a worker could read them there, and raise signals in its host. */
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
   * Without a locale, as in most containers, Java cannot decode such a variable: workers, and a
   * host that is supervised, had question marks in its place.
   */
  @Test
  void aWorkerHasTheEnvironmentByteForByteInAnyLocale() throws Exception {
    Path classes = Path.of(RunIT.class.getProtectionDomain().getCodeSource().getLocation().toURI());
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
                .formatted(classes));
    String run =
        "export GREETING=$(printf 'gr\\303\\274n'); exec %s run --supervise %s"
            .formatted(HostProgram.BELFRY, config);
    Program.Start start =
        Program.of("sh", "-c", run)
            .with("LC_ALL", "C")
            .with("XDG_RUNTIME_DIR", directory.toString())
            .in(directory);
    try (HostProgram host = HostProgram.start(start, directory)) {
      assertThat(host.call("about", "").get(60, TimeUnit.SECONDS).body()).startsWith("hello grün ");
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  /**
   * An accept that finds no descriptor ends its listener, for good: nobody could call any more, and
   * health said that all was well.
   */
  @ParameterizedTest
  @ValueSource(strings = {"gateway", "admin"})
  void moreConnectionsThanDescriptorsDoNotEndAListener(String section) throws Exception {
    Path config = HostProgram.config(directory);
    String run = "ulimit -n 200 && exec %s run %s".formatted(HostProgram.BELFRY, config);
    Program.Start start =
        Program.of("sh", "-c", run).with("XDG_RUNTIME_DIR", directory.toString()).in(directory);
    try (HostProgram host = HostProgram.start(start, directory)) {
      URI flooded = section.equals("gateway") ? host.gateway() : host.admin();
      var crowd = new ArrayList<Socket>();
      for (int i = 0; i < 300; i++) {
        crowd.add(new Socket(flooded.getHost(), flooded.getPort()));
      }
      var call = host.call("upper", "still");
      for (Socket one : crowd) {
        one.close();
      }

      assertThat(call.get(60, TimeUnit.SECONDS).body()).isEqualTo("STILL");
      assertThat(host.get("/health/live").statusCode()).isEqualTo(200);
      assertThat(host.call("upper", "on").get(60, TimeUnit.SECONDS).body()).isEqualTo("ON");
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  /** Workers were started first, and whoever had typed the command twice waited for their end. */
  @ParameterizedTest
  @ValueSource(strings = {"gateway", "admin"})
  void aPortThatIsTakenIsAClearErrorBeforeAnythingIsStarted(String section) throws Exception {
    Path program = Files.writeString(directory.resolve("worker"), "#!/bin/sh\n> started\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    try (var taken = new ServerSocket()) {
      taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      String address = "127.0.0.1:" + taken.getLocalPort();
      Path config =
          Files.writeString(
              directory.resolve("belfry.yaml"),
              "workers: {command: [./worker]}\n%s: {listen: '%s'}\n".formatted(section, address));
      Program.Result result = HostProgram.of(directory, config.toString()).run();
      assertThat(result.exitCode()).isEqualTo(1);
      assertThat(result.out()).isEmpty();
      assertThat(result.err().lines().filter(line -> line.startsWith("belfry run:")))
          .singleElement()
          .asString()
          .contains("cannot listen at " + address, "is another host running there?");
      assertThat(result.err()).doesNotContain("\tat ");
    }
    assertThat(directory.resolve("started")).doesNotExist();
  }

  /**
   * A host that was told to reload ended for it, and could not come back; then only where the
   * kernel's words are English.
   */
  @ParameterizedTest
  @ValueSource(strings = {"C.UTF-8", "de_DE.UTF-8"})
  void validateFindsAPortThatTheHostMayNotHave(String locale) throws Exception {
    Path first = Path.of("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    assumeTrue(Files.readAllLines(first).equals(List.of("1024")), "ports are free for all here");
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            "workers: {builtin: demo}\ngateway: {listen: '127.0.0.1:81'}\n");
    String notEvenRoot =
        "[ $(id -u) != 0 ] || set -- setpriv --inh-caps=-net_bind_service"
            + " --bounding-set=-net_bind_service \"$@\"; exec \"$@\"";
    Program.Result result =
        Program.of(
                "sh",
                "-c",
                notEvenRoot,
                "sh",
                HostProgram.BELFRY.toString(),
                "validate",
                config.toString())
            .with("LOCPATH", locales(locale).toString())
            .with("LC_ALL", locale)
            .run();
    assertThat(result.out()).contains(":2: gateway.listen: this process may not have port 81");
    assertThat(result.exitCode()).isEqualTo(1);
  }

  /** A directory with a locale that need not be installed; but its translations must be. */
  private Path locales(String name) throws Exception {
    Path locales = Files.createDirectory(directory.resolve("locales"));
    String language = name.replaceFirst("[.].*", "");
    if (!language.equals("C")) { // which is always there
      Path texts = Path.of("/usr/share/locale", name.substring(0, 2), "LC_MESSAGES/libc.mo");
      String made = locales.resolve(name).toString();
      assumeTrue(
          Files.exists(texts)
              && Program.of("localedef", "-i", language, "-f", "UTF-8", made).run().exitCode() == 0,
          "this machine has no " + name);
    }
    return locales;
  }

  @Test
  void aConfigurationThatIsNotValidIsRefusedWithAllThatIsWrong() throws Exception {
    Path config = Files.writeString(directory.resolve("belfry.yaml"), "workers: {}\nx: 1\n");
    Program.Result result = HostProgram.of(directory, config.toString()).run();
    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err()).contains("line 1: workers: needs one of", "line 2: x: there is no");

    Program.Result missing = HostProgram.of(directory, "nowhere.yaml").run();
    assertThat(missing.exitCode()).isEqualTo(1);
    assertThat(missing.err()).isEqualTo("belfry run: there is no file nowhere.yaml\n");
  }

  /** The process id was in Arabic digits, which no program reads. */
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

  /** An error that is no exception, as for want of memory, left a host that did nothing. */
  @Test
  void aStartThatFailsByAnErrorEndsToo() throws Exception {
    String withoutServer =
        Stream.of(System.getProperty("java.class.path").split(":"))
            .filter(entry -> !entry.contains("helidon-webserver"))
            .collect(Collectors.joining(":"));
    Program.Start start =
        Program.of(
                Path.of(System.getProperty("java.home"), "bin/java"),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                withoutServer,
                "dev.belfry.cli.Main",
                "run",
                HostProgram.config(directory).toString())
            .with("XDG_RUNTIME_DIR", directory.toString());
    Program.Result result = start.run();
    assertThat(result.err()).contains("java.lang.NoClassDefFoundError: io/helidon/");
    assertThat(result.exitCode()).isEqualTo(1);
  }

  /** Also for a relaunch: a java -jar that brings itself into the right state. */
  @Test
  void itRunsTheSameWithoutTheLauncher() throws Exception {
    Path config = HostProgram.config(directory);
    Path jar = Installation.PROJECT.resolve("belfry-cli/target/belfry.jar");
    Program.Start start =
        Program.of(
                Path.of(System.getProperty("java.home"), "bin/java"),
                "-jar",
                jar.toString(),
                "run",
                config.toString())
            .with("XDG_RUNTIME_DIR", directory.toString());
    try (HostProgram host = HostProgram.start(start, directory)) {
      assertThat(host.call("upper", "same").get(60, TimeUnit.SECONDS).body()).isEqualTo("SAME");
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }
}
