package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class ReadinessTest {
  /** The program used to be ready from the start, even without workers. */
  @Test
  void itIsReadyWhileTheProgramTakesWorkAndLiveInAnyCase() throws Exception {
    var takesWork = new AtomicBoolean();
    AdminOptions options =
        new AdminOptions()
            .port(0)
            .bearerToken(Secret.of(Transport.TOKEN))
            .readyWhile(takesWork::get);
    try (Host host = Host.open(Transport.PLAIN, options)) {
      assertThat(status(host, "/health/ready")).isEqualTo(503);
      assertThat(status(host, "/health/live")).isEqualTo(200);
      takesWork.set(true);
      assertThat(status(host, "/health/ready")).isEqualTo(200);
      takesWork.set(false);
      assertThat(status(host, "/health/ready")).isEqualTo(503);
      assertThat(status(host, "/health/live")).isEqualTo(200);
    }
  }

  /** The answer used to have an id that no log had, and was not counted. */
  // r[verify signals.http.log-all]
  // r[verify signals.http.log-fields]
  @Test
  void aProgramThatCannotSayWhetherItTakesWorkIsReported() throws Exception {
    AdminOptions options =
        new AdminOptions()
            .port(0)
            .bearerToken(Secret.of(Transport.TOKEN))
            .readyWhile(
                () -> {
                  throw new IllegalStateException("no pool yet");
                });
    try (Host host = Host.open(Transport.PLAIN, options)) {
      Answered answered = host.sendAs("GET", "/health/ready", Map.of(), new byte[0]);
      assertThat(answered.status()).isEqualTo(500);
      assertThat(answered.json().get("error").asString()).isEqualTo("internal");
      assertThat(answered.body()).doesNotContain("pool");
      assertThat(host.log)
          .extracting(it -> it.fields().get("correlation_id"))
          .containsOnly(answered.header("x-correlation-id"));
      assertThat(host.log)
          .anySatisfy(
              it ->
                  assertThat(it.fields())
                      .containsEntry("path", "/health/ready")
                      .containsEntry("source", "127.0.0.1")
                      .containsEntry("status", "500"))
          .anySatisfy(
              it -> {
                assertThat(it.level()).isEqualTo(System.Logger.Level.ERROR);
                assertThat(it.fields())
                    .containsEntry("error", "java.lang.IllegalStateException: no pool yet");
              });
      assertThat(host.meters.scrape())
          .contains("belfry_admin_requests_total{route=\"/health/ready\",status=\"500\"} 1.0");
      assertThat(status(host, "/health/live")).isEqualTo(200);
    }
  }

  private static int status(Host host, String path) throws Exception {
    return host.sendAs("GET", path, Map.of(), new byte[0]).status();
  }
}
