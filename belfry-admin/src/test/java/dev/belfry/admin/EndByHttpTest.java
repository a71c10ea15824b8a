package dev.belfry.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.RawHttp;
import dev.belfry.testkit.TestProcess;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A real process that is ended over HTTP. */
@Timeout(120)
final class EndByHttpTest {
  private static final Map<String, String> HEADERS =
      Map.of("Authorization", "Bearer " + Transport.TOKEN, "Content-Type", "application/json");

  /** The state LISTEN, and below it 127.0.0.1 in this machine's byte order, as in /proc/net/tcp. */
  private static final String LISTEN = " 0A ";

  private static final String LOOPBACK = "0100007F";

  /** Passes the token in the environment, so that it does not show in the list of processes. */
  private static TestProcess start() throws Exception {
    var command =
        new ArrayList<>(List.of("env", SampleHost.TOKEN_VARIABLE + "=" + Transport.TOKEN));
    command.addAll(TestProcess.javaCommand(SampleHost.class));
    return TestProcess.start(command);
  }

  private static InetSocketAddress address(TestProcess process) throws InterruptedException {
    return new InetSocketAddress(
        InetAddress.getLoopbackAddress(), Integer.parseInt(process.line("port ")));
  }

  private static byte[] body(String signal) {
    return "{\"signal\": \"%s\"}".formatted(signal).getBytes(UTF_8);
  }

  // r[verify signals.http.async]
  @ParameterizedTest
  @CsvSource({"TERM, 143", "INT, 130", "QUIT, 131"})
  void theWholeAnswerIsReadAndThenTheProcessEnds(String signal, int code) throws Exception {
    try (TestProcess process = start()) {
      Answered answered =
          RawClient.send(address(process), "POST", "/admin/signal", HEADERS, body(signal));
      assertThat(answered.status()).isEqualTo(202);
      assertThat(answered.json().get("message").asString())
          .isEqualTo("Signal will be processed asynchronously");
      assertThat(process.exitCode()).isEqualTo(code);
      List<String> rest = process.rest();
      assertThat(rest).anyMatch(line -> line.contains("status=202"));
      assertThat(rest).noneMatch(line -> line.contains(Transport.TOKEN));
      assertThat(rest.contains("cleanup")).isEqualTo(!signal.equals("QUIT"));
    }
  }

  @Test
  void aClientThatGoesAwayDoesNotStopTheShutdown() throws Exception {
    try (TestProcess process = start()) {
      try (SocketChannel channel = SocketChannel.open(address(process))) {
        var head = new StringBuilder("POST /admin/signal HTTP/1.1\r\nHost: localhost\r\n");
        HEADERS.forEach((name, value) -> head.append(name + ": " + value + "\r\n"));
        head.append("Content-Length: " + body("TERM").length + "\r\n\r\n");
        RawHttp.write(channel, head.toString());
        RawHttp.write(channel, body("TERM"));
      } // closed without reading a byte
      process.line("cleanup");
      assertThat(process.exitCode()).isEqualTo(143);
    }
  }

  // r[verify signals.http.not-public]
  @Test
  void theListenerIsItsOwnAndOnTheLoopbackAddressOnly() throws Exception {
    try (TestProcess process = start()) {
      String port = ":%04X".formatted(address(process).getPort());
      var all = new ArrayList<String>();
      for (String table : List.of("net/tcp", "net/tcp6")) {
        Path file = Path.of("/proc", Integer.toString(process.pid()), table);
        Files.readAllLines(file).stream()
            .filter(line -> line.contains(port + " ") && line.contains(LISTEN))
            .forEach(all::add);
      }
      assertThat(all).singleElement().satisfies(line -> assertThat(line).contains(LOOPBACK + port));
    }
  }
}
