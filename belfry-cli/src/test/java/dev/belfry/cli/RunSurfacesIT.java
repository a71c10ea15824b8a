package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Signo;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The gateway and the admin surface of a host, side by side. */
class RunSurfacesIT {
  @TempDir private Path directory = Path.of("");

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

  /**
   * Regression: an accept without a free descriptor ended its listener for good. No client could
   * connect any more, and health reported that all was well.
   */
  @ParameterizedTest
  @ValueSource(strings = {"gateway", "admin"})
  void moreConnectionsThanDescriptorsDoNotEndAListener(String section) throws Exception {
    Path config = HostProgram.config(directory);
    String run = "ulimit -n 200 && exec %s run %s".formatted(HostProgram.BELFRY, config);
    Program.Start start = HostProgram.byShell(directory, run);
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
}
