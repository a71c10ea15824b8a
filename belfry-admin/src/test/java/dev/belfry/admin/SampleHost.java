package dev.belfry.admin;

import dev.belfry.signals.SignalLog;
import dev.belfry.signals.Signals;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.concurrent.CountDownLatch;

/** A process with an admin surface, which signals really end. */
final class SampleHost {
  static final String TOKEN_VARIABLE = "SAMPLE_ADMIN_TOKEN";

  private SampleHost() {}

  public static void main(String[] args) throws Exception {
    var meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    SignalLog log = record -> System.out.println("log " + record.text());
    Signals signals = Signals.builder().log(log).telemetry(new SignalMetrics(meters)).open();
    AdminServer admin =
        AdminServer.open(
            new AdminOptions().port(0).bearerToken(Secret.fromEnvironment(TOKEN_VARIABLE)),
            signals,
            meters,
            log);
    signals.onShutdown("admin", admin::close);
    signals.onShutdown("cleanup", () -> System.out.println("cleanup"));
    System.out.println("port " + admin.port());
    new CountDownLatch(1).await();
  }
}
