package dev.belfry.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.signals.SignalLog;
import dev.belfry.signals.SignalRecord;
import dev.belfry.signals.SignalsTesting;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class FailingLogTest {
  /** A failing log used to turn every answer into 500, and no signal was raised. */
  @Test
  void whoeverEndsTheProcessNeedsNoLogForIt() throws Exception {
    SignalLog full =
        _ -> {
          throw new IllegalStateException("no space left");
        };
    AdminOptions options = new AdminOptions().port(0).bearerToken(Secret.of(Transport.TOKEN));
    var meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    try (SignalsTesting test = SignalsTesting.open();
        AdminServer admin = AdminServer.open(options, test.signals(), meters, full)) {
      Answered answered =
          RawClient.send(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), admin.port()),
              "POST",
              "/admin/signal",
              Map.of(
                  "Host",
                  "localhost",
                  "Authorization",
                  "Bearer " + Transport.TOKEN,
                  "Content-Type",
                  "application/json"),
              "{\"signal\": \"TERM\"}".getBytes(UTF_8));
      assertThat(answered.status()).isEqualTo(202);
      await().until(() -> test.exits().equals(List.of(143)));
    }
  }

  @Test
  void recordsAndNoticesReachTheLogAndItsFailuresNobody() {
    var seen = new ArrayList<String>();
    SignalLog failing =
        new SignalLog() {
          @Override
          public void log(SignalRecord record) {
            seen.add(record.message());
            throw new IllegalStateException("no space left");
          }

          @Override
          public void notice(String line) {
            seen.add(line);
            throw new IllegalStateException("no space left");
          }
        };
    var isolated = new IsolatedLog(failing);
    isolated.log(new SignalRecord(Level.INFO, "admin.request", "a record", Map.of()));
    isolated.notice("a notice");
    assertThat(seen).containsExactly("a record", "a notice");
  }
}
