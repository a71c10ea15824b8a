package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Signo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a host reports to systemd, as a unit of Type=notify must. */
class SystemdIT {
  @TempDir private Path directory = Path.of("");

  private Program start(NotifySocket socket, Path config, String... options) throws Exception {
    var arguments = new ArrayList<>(List.of(options));
    arguments.add(config.toString());
    return HostProgram.of(directory, arguments.toArray(String[]::new))
        .with("NOTIFY_SOCKET", socket.name())
        .start();
  }

  /** Regression: dependent units were started before the host had a worker. */
  @Test
  void itIsToldWhenTheHostServesAndWhenItEnds() throws Exception {
    Path config = HostProgram.config(directory);
    try (NotifySocket socket = NotifySocket.named("belfry/" + directory.getFileName());
        Program program = start(socket, config)) {
      String ready = socket.next();
      try (HostProgram host = HostProgram.start(program, directory)) {
        assertThat(ready)
            .isEqualTo(
                "READY=1\nSTATUS=tested, calls %s, console %s"
                    .formatted(host.gateway(), host.admin()));
        assertThat(host.call("upper", "at once").get(60, TimeUnit.SECONDS).body())
            .isEqualTo("AT ONCE");
        for (ProcessHandle worker : host.workers()) { // only the host may report to systemd
          assertThat(Path.of("/proc", Long.toString(worker.pid()), "environ"))
              .content()
              .doesNotContain("NOTIFY_SOCKET");
        }

        var call = host.sleep(Duration.ofSeconds(20));
        program.signal(Signo.TERM);
        assertThat(socket.next()).startsWith("STOPPING=1\n");
        assertThat(call).isNotDone(); // so systemd was told when shutdown began
      }
    }
  }

  @Test
  void aHostWhoseWorkersComeUpLateIsNotReadyUntilThen() throws Exception {
    Path script =
        Files.writeString(
            directory.resolve("worker"), "#!/bin/sh\n[ -e now ] || exit 7\nexec \"$@\"\n");
    assertThat(script.toFile().setExecutable(true)).isTrue();
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            """
            workers:
              command: [./worker, %s, -cp, %s, --enable-native-access=ALL-UNNAMED, %s]
              restart: {first_delay: 1ms, crash_limit: 2}
            """
                .formatted(
                    Path.of(System.getProperty("java.home"), "bin/java"),
                    System.getProperty("java.class.path"),
                    "dev.belfry.cli.run.DemoWorker"));
    try (NotifySocket socket = NotifySocket.at(directory.resolve("notify"));
        Program program = start(socket, config)) {
      assertThat(socket.next()).isEqualTo("STATUS=no worker is ready, and the log says why");
      Files.createFile(directory.resolve("now"));
      program.signal(Signo.USR2);
      assertThat(socket.next()).startsWith("READY=1\n");
      program.signal(Signo.TERM);
      assertThat(socket.next()).startsWith("STOPPING=1\n");
      assertThat(program.end().exitCode()).isEqualTo(143);
    }
  }

  /** To systemd, the service is the supervisor, which does not end when its host reloads. */
  @Test
  void aSupervisedHostIsReadyEachTimeAndDoesNotSayThatItEnds() throws Exception {
    Path config = HostProgram.config(directory);
    try (NotifySocket socket = NotifySocket.at(directory.resolve("notify"));
        Program program = start(socket, config, "--supervise")) {
      assertThat(socket.next()).startsWith("READY=1\n");
      program.signal(Signo.HUP);
      assertThat(socket.next()).startsWith("READY=1\n");
      program.signal(Signo.TERM);
      assertThat(program.end().exitCode()).isEqualTo(143);
      assertThat(socket.next(Duration.ZERO)).isEmpty();
    }
  }

  @Test
  void aSystemdThatCannotBeToldStopsNothing() throws Exception {
    Path config = HostProgram.config(directory);
    Program.Start start =
        HostProgram.of(directory, config.toString())
            .with("NOTIFY_SOCKET", directory.resolve("nowhere").toString());
    try (HostProgram host = HostProgram.start(start, directory)) {
      host.program().awaitErr("cannot tell systemd");
      assertThat(host.call("upper", "on").get(60, TimeUnit.SECONDS).body()).isEqualTo("ON");
      host.program().signal(Signo.TERM);
      Program.Result result = host.program().end();
      assertThat(result.exitCode()).isEqualTo(143);
      assertThat(result.err().split("cannot tell systemd", -1)).hasSize(2);
    }
  }
}
