package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code belfry signal}, sent to a process and to a host's admin surface. */
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

      // Regression: for the gateway's address it asked for a token, which does not help there.
      Program.Result mistaken = signal(host.gateway().toString(), "TERM");
      assertThat(mistaken.exitCode()).isEqualTo(1);
      assertThat(mistaken.err())
          .contains(
              host.gateway() + " is not the admin surface of a host of this user",
              ":" + host.admin().getPort() + " of tested (pid");

      Program.Result accepted = signal(surface, "SIGTERM", "--reason", "tested enough");
      assertThat(accepted.exitCode()).isZero();
      assertThat(accepted.out()).contains("processed asynchronously");
      Program.Result ended = host.program().end();
      assertThat(ended.exitCode()).isEqualTo(143);
      assertThat(ended.err()).contains("reason=\"tested enough\"");
    }
    Path other = Files.writeString(directory.resolve("other"), "another token");
    assertThat(signal("http://127.0.0.1:1", "TERM", "--token-file", other.toString()).err())
        .contains("cannot ask http://127.0.0.1:1: nobody is there");
  }

  /** Regression: it took only process ids and URLs, while other commands take names of hosts. */
  @Test
  void aHostGetsItByItsName() throws Exception {
    Path config = HostProgram.config(directory);
    try (HostProgram host = HostProgram.start(directory, config.toString())) {
      Program.Result unknown = signal("another", "TERM");
      assertThat(unknown.exitCode()).isEqualTo(1);
      assertThat(unknown.err())
          .isEqualTo(
              "belfry signal: no host is called another; running: tested (pid %d)\n"
                  .formatted(host.pid()));

      assertThat(signal("tested", "TERM")).isEqualTo(new Program.Result(0, "", ""));
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  /** Regression: any token was sent to any address, and at loopback to any listener. */
  @Test
  void aTokenGoesToNobodyElseAndNotInTheClear() throws Exception {
    Path own = writeToken();
    List<String> received = new CopyOnWriteArrayList<>();
    HttpServer stranger = HttpServer.create(new InetSocketAddress("0.0.0.0", 0), 0);
    stranger.createContext(
        "/",
        exchange -> {
          received.add(exchange.getRequestHeaders().toString());
          exchange.sendResponseHeaders(202, -1);
          exchange.close();
        });
    stranger.start();
    try {
      int port = stranger.getAddress().getPort();
      assertRefused("give the token with --token-file", "http://127.0.0.1:" + port, "HUP");
      assertRefused("give the token with --token-file", "http://localhost:" + port, "HUP");
      String address = "://0.0.0.0:" + port;
      assertRefused("go over a network in the clear", "http" + address, "HUP");
      assertRefused(
          "go over a network in the clear",
          "http" + address,
          "HUP",
          "--token-file",
          own.toString());
      assertRefused("give the token with --token-file", "https" + address, "HUP");
    } finally {
      stranger.stop(0);
    }
    assertThat(received).isEmpty();
  }

  private Path writeToken() throws IOException {
    Path place =
        Files.createDirectory(
            directory.resolve("belfry"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    return Files.writeString(place.resolve("admin-token"), "secret");
  }

  private void assertRefused(String why, String... arguments) throws Exception {
    Program.Result refused = signal(arguments);
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err()).contains(why);
  }
}
