package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code belfry signal} to a process and to the admin surface of a host. */
class SendSignalIT {
  @TempDir private Path directory = Path.of("");

  private Program.Result signal(String... arguments) throws Exception {
    var all = new String[arguments.length + 1];
    all[0] = "signal";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    return Program.of(HostProgram.BELFRY, all)
        .with("XDG_RUNTIME_DIR", directory.toString())
        .without("BELFRY_TOKEN")
        .run();
  }

  @Test
  void aProcessGetsIt() throws Exception {
    try (Program sleeper = Program.of("sleep", "60").start()) {
      assertThat(signal(Integer.toString(sleeper.pid()), "term"))
          .isEqualTo(new Program.Result(0, "", ""));
      assertThat(sleeper.exitCode()).isEqualTo(143);
      assertThat(signal(Integer.toString(sleeper.pid()), "TERM"))
          .isEqualTo(
              new Program.Result(
                  1, "", "belfry signal: there is no process " + sleeper.pid() + "\n"));
    }
  }

  @Test
  void aHostGetsItOverHttpWithTheTokenOfTheRunDirectoryOrAnother() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      String surface = host.admin().toString();
      Path wrong = Files.writeString(directory.resolve("wrong"), "not the token");
      Program.Result refused = signal(surface, "TERM", "--token-file", wrong.toString());
      assertThat(refused.exitCode()).isEqualTo(1);
      assertThat(refused.err()).contains("refuses: 401");

      Program.Result accepted = signal(surface, "SIGTERM", "--reason", "tested enough");
      assertThat(accepted.exitCode()).isZero();
      assertThat(accepted.out()).contains("processed asynchronously");
      Program.Result ended = host.program().end();
      assertThat(ended.exitCode()).isEqualTo(143);
      assertThat(ended.err()).contains("reason=\"tested enough\"");
    }
    assertThat(signal("http://127.0.0.1:1", "TERM").err()).contains("nobody listens at");
  }
}
