package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Signo;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The packaged service, which handles its signals by the signal standard. */
class EchoIT {
  private static final Path BELFRY = Installation.PROJECT.resolve("belfry");

  @TempDir private Path directory = Path.of("");

  // r[verify signals.scope.adoption]
  @ParameterizedTest
  @ValueSource(ints = {Signo.TERM, Signo.INT, Signo.HUP})
  void itEndsInGoodOrderWithTheCodeOfTheSignal(int signal) throws Exception {
    Path socket = directory.resolve("echo.sock");
    try (Program echo = Program.of(BELFRY, "echo", "--unix", socket.toString()).start()) {
      echo.awaitLine("echo at");
      assertThat(socket).exists();
      echo.signal(signal);

      Program.Result result = echo.end();
      assertThat(result.exitCode()).isEqualTo(128 + signal);
      assertThat(Files.exists(socket)).isFalse();
      // Regression: HUP ended it, but the log said that the reload was rejected and it would go on.
      assertThat(result.err()).doesNotContain("reload");
    }
  }

  @ParameterizedTest
  @CsvSource({"io_uring, io_uring", "auto, io_uring", "epoll-timerfd, epoll-timerfd"})
  void itServesOnTheBackendThatWasChosen(String chosen, String used) throws Exception {
    try (Program echo = Program.of(BELFRY, "echo", "--port", "0", "--backend", chosen).start()) {
      String line = echo.awaitLine("echo at");
      assertThat(line).endsWith(" on " + used);
      String port = line.replaceAll(".*:(\\d+) on .*", "$1");
      try (var client = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(port))) {
        client.getOutputStream().write("again".getBytes(StandardCharsets.US_ASCII));
        byte[] answer = client.getInputStream().readNBytes("again".length());
        assertThat(answer).asString(StandardCharsets.US_ASCII).isEqualTo("again");
      }
      echo.signal(Signo.TERM);
      assertThat(echo.end().exitCode()).isEqualTo(128 + Signo.TERM);
    }
  }

  /** Regression: it warned of each. */
  @Test
  void aClientThatBreaksOffIsNothingToLogForACoroutine() throws Exception {
    try (Program echo = Program.of(BELFRY, "echo", "--port", "0", "--coroutines").start()) {
      int port = Integer.parseInt(echo.awaitLine("echo at").replaceAll(".*:(\\d+) on .*", "$1"));
      for (int i = 0; i < 2; i++) { // the second is served after the first was missed
        try (var client = new Socket(InetAddress.getLoopbackAddress(), port)) {
          client.getOutputStream().write('a');
          assertThat(client.getInputStream().read()).isEqualTo('a');
          client.setSoLinger(true, 0); // a reset
        }
      }
      echo.signal(Signo.TERM);
      assertThat(echo.end().err()).doesNotContain("ECONNRESET");
    }
  }

  @Test
  void aBackendThatDoesNotExistIsAnsweredWithThoseThatDo() throws Exception {
    Program.Result result = Program.of(BELFRY, "echo", "--port", "0", "--backend", "kqueue").run();
    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err()).contains("say epoll, epoll-timerfd, io_uring or auto");
  }

  /** Regression: it printed a stack trace. */
  @ParameterizedTest
  @ValueSource(ints = {-1, 65_536})
  void aPortThatThereCannotBeIsAWrongCommandLine(int port) {
    CommandRun run = CommandRun.of("echo", "--port=" + port);
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith("belfry echo: --port is between 0 and 65535, not " + port);
  }

  @Test
  void theFirstInterruptSaysHowToForceTheExit() throws Exception {
    try (Program echo = Program.of(BELFRY, "echo", "--port", "0").start()) {
      echo.awaitLine("echo at");
      echo.signal(Signo.INT);

      assertThat(echo.end().err()).contains("Press Ctrl+C again within 2s to force quit");
    }
  }

  @Test
  void quitPrintsWhereTheThreadsAre() throws Exception {
    try (Program echo = Program.of(BELFRY, "echo", "--port", "0").start()) {
      echo.awaitLine("echo at");
      echo.signal(Signo.QUIT);

      Program.Result result = echo.end();
      assertThat(result.exitCode()).isEqualTo(131);
      assertThat(result.err()).contains("dev.belfry.loop.EventLoop");
    }
  }
}
