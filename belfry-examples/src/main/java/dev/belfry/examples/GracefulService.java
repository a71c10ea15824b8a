package dev.belfry.examples;

import dev.belfry.admin.AdminOptions;
import dev.belfry.admin.AdminServer;
import dev.belfry.admin.Secret;
import dev.belfry.admin.SignalMetrics;
import dev.belfry.signals.ShutdownPhase;
import dev.belfry.signals.SignalLog;
import dev.belfry.signals.Signals;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A service that shuts down cleanly, reloads by restarting, and takes signals over HTTP. */
final class GracefulService {
  private GracefulService() {}

  public static void main(String[] args) throws Exception {
    Path config = Path.of(args[0]);
    // @start region="graceful-service"
    var meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Signals signals = Signals.builder().telemetry(new SignalMetrics(meters)).open();

    signals.onShutdown("store", () -> System.out.println("store closed")); // runs last
    signals.onShutdown(ShutdownPhase.DRAIN, "requests", () -> System.out.println("drained"));
    signals.onReload(() -> problemsOf(config)); // no problems: exit 129, to be started again
    signals.handle("USR1", signal -> System.out.println("reopening logs for " + signal));

    var admin = new AdminOptions().port(0).bearerToken(Secret.fromEnvironment("ADMIN_TOKEN"));
    AdminServer server = AdminServer.open(admin, signals, meters, SignalLog.toSystemLogger());
    // @end
    signals.onShutdown("admin", server::close);
    System.out.println("admin at " + server.port());
    new CountDownLatch(1).await();
  }

  /** The problems of a configuration. A real program would check it against its schema. */
  private static List<String> problemsOf(Path config) throws IOException {
    return Files.readString(config).contains("port:") ? List.of() : List.of("port is missing");
  }
}
