package dev.belfry.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.TestProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Each example does what it says, in a process of its own. */
@Timeout(120)
final class SignalExamplesTest {
  private static final String TOKEN = "ADMIN_TOKEN=only-for-this-test";

  @TempDir private Path directory;

  private static TestProcess start(Class<?> main, String... arguments) throws Exception {
    var command = new ArrayList<>(List.of("env", "--default-signal=HUP,INT,USR1", TOKEN));
    command.addAll(TestProcess.javaCommand(main, arguments));
    return TestProcess.start(command);
  }

  private static void kill(TestProcess process, String signal) throws Exception {
    new ProcessBuilder("kill", "-" + signal, Integer.toString(process.pid())).start().waitFor();
  }

  @Test
  void theServiceEndsInGoodOrder() throws Exception {
    Path config = Files.writeString(directory.resolve("config.yaml"), "port: 1");
    try (TestProcess service = start(GracefulService.class, config.toString())) {
      service.line("admin at ");
      kill(service, "USR1");
      service.line("reopening logs for SIGUSR1");
      kill(service, "TERM");
      service.line("drained");
      service.line("store closed");
      assertThat(service.exitCode()).isEqualTo(143);
    }
  }

  @Test
  void theServiceIsAskedToReloadInTheWayOfThePlatform() throws Exception {
    for (String platform : List.of("LINUX", "WINDOWS")) {
      Path config = Files.writeString(directory.resolve("config.yaml"), "port: 1");
      try (TestProcess service = start(GracefulService.class, config.toString())) {
        String admin = "http://127.0.0.1:" + service.line("admin at ");
        try (TestProcess asks =
            start(AskForReload.class, Integer.toString(service.pid()), admin, platform)) {
          assertThat(asks.rest()).contains(platform.equals("LINUX") ? "kill: 0" : "http: 202");
        }
        assertThat(service.exitCode()).isEqualTo(129);
      }
    }
  }

  // r[verify signals.scope.adoption]
  @Test
  void aToolThatUsesOnlyTheCatalogStartsNothing() throws Exception {
    try (TestProcess tool = start(ExitCodes.class, "term", "FOO")) {
      assertThat(tool.rest())
          .containsExactly(
              "SIGTERM ends a process with 143",
              "FOO is not a signal",
              "threads of the library: 0");
      assertThat(tool.exitCode()).isZero();
    }
  }
}
