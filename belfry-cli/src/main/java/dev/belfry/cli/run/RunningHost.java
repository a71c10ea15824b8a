package dev.belfry.cli.run;

import dev.belfry.admin.AdminOptions;
import dev.belfry.admin.AdminServer;
import dev.belfry.admin.HostEvents;
import dev.belfry.admin.SignalMetrics;
import dev.belfry.cli.BindProbe;
import dev.belfry.cli.Reason;
import dev.belfry.cli.ThreadDump;
import dev.belfry.cli.config.AdminConfig;
import dev.belfry.cli.config.ConfigException;
import dev.belfry.cli.config.ConfigFault;
import dev.belfry.cli.config.ConfigFile;
import dev.belfry.cli.config.GatewayConfig;
import dev.belfry.cli.config.HostConfig;
import dev.belfry.cli.counters.CountersWriter;
import dev.belfry.cli.hosts.HostEntry;
import dev.belfry.cli.hosts.RunDirectory;
import dev.belfry.cli.log.ServiceLog;
import dev.belfry.gateway.Gateway;
import dev.belfry.linux.Sys;
import dev.belfry.signals.ShutdownPhase;
import dev.belfry.signals.SignalCatalog;
import dev.belfry.signals.SignalLog;
import dev.belfry.signals.SignalRecord;
import dev.belfry.signals.Signals;
import dev.belfry.signals.SignalsBuilder;
import dev.belfry.workers.PoolStatus;
import dev.belfry.workers.WorkerPool;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A host: a pool, a gateway to call it over HTTP, an admin surface, and the signals that end it.
 * Resources are closed in the reverse order of opening, on shutdown or if the start fails.
 */
final class RunningHost {
  /** How long workers may take to exit once all calls have ended or were given up. */
  private static final Duration GOODBYE = Duration.ofMillis(500);

  private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);

  private final HostConfig config;
  private final @Nullable Path file;
  private final Instant startedAt = Instant.now();
  private final HostEvents events = new HostEvents();
  private final PrometheusMeterRegistry meters =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final SignalLog log;
  private final Signals signals;
  private final EndTime endTime;
  private final Systemd systemd;
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  private RunningHost(HostConfig config, @Nullable Path file, SignalLog records) {
    this.config = config;
    this.file = file;
    this.log = events.watching(records);
    SignalCatalog catalog = SignalCatalog.bundled().withTimeLimit(config.shutdownLimit());
    SignalsBuilder builder =
        Signals.builder().catalog(catalog).log(log).telemetry(new SignalMetrics(meters));
    this.endTime = new EndTime(catalog, builder);
    handleSignals(builder, file, config);
    this.signals = builder.open();
    this.systemd = new Systemd(Sys.forAnyThread(), log, System.getenv(Systemd.VARIABLE));
    if (!Supervise.isChild(Sys.forAnyThread())) { // else this is up to the supervisor
      signals.onShutdown(ShutdownPhase.STOP_ACCEPTING, "word to systemd", systemd::stopping);
    }
  }

  /** Sets the handlers that must already work while the host is starting. */
  private static void handleSignals(
      SignalsBuilder signals, @Nullable Path file, HostConfig config) {
    signals.handle("QUIT", _ -> ThreadDump.print());
    if (file != null) {
      signals.onReload(() -> problems(file, config));
    } else {
      signals.endOn("HUP"); // a terminal that closes ends the demonstration
    }
  }

  /**
   * Runs a host until a signal ends the process. Never returns normally.
   *
   * @param file the configuration's file, which is checked again on HUP; null for the demonstration
   * @throws IOException if the host cannot start; nothing is left open then
   */
  static void run(HostConfig config, @Nullable Path file, PrintWriter out)
      throws IOException, InterruptedException {
    var host = new RunningHost(config, file, ServiceLog.open(config.logging()));
    try {
      host.open(out);
    } catch (IOException | RuntimeException e) {
      host.closeAll();
      throw e;
    }
    Thread.currentThread().join(); // forever: a signal ends the process
  }

  private void open(PrintWriter out) throws IOException, InterruptedException {
    RunDirectory directory = RunDirectory.ofUser();
    checkPorts(config, List.of());
    for (String warning : config.openSecrets()) {
      tell(Level.WARNING, "host.secret", warning);
    }
    WorkerPool pool = WorkerPool.open(PoolPlan.of(config, new HostListener(log, events)));
    closeAtEnd("workers", () -> pool.close(GOODBYE));
    signals.handle("USR1", _ -> tellState(pool.status()));
    signals.handle("USR2", _ -> pool.reset());
    PoolMetrics.of(pool, meters);

    URI gateway = config.gateway().isPresent() ? openGateway(config.gateway().get(), pool) : null;
    Optional<Token> token = Optional.empty();
    URI admin = null;
    if (config.admin().isPresent()) {
      token = Surfaces.token(config.admin().get(), directory);
      admin = openAdmin(config.admin().get(), token, pool);
    }
    Path counters = directory.newCountersFile();
    closeAtEnd("counters", CountersWriter.open(counters, pool::status));
    var entry =
        new HostEntry(
            ProcessHandle.current().pid(),
            config.name(),
            gateway,
            admin,
            counters,
            file == null ? null : file.toAbsolutePath(),
            startedAt);
    RunDirectory.Announcement announcement = directory.announce(entry);
    closeAtEnd("announcement", announcement);
    pool.awaitReady(config.workers().limits().ready());
    if (!signals.isShuttingDown()) { // else this is closed already, or about to be
      new Welcome(out).say(config, entry, token, pool.status());
    }
    tellSystemd(entry, pool);
  }

  /** Reports readiness as the health endpoint does: once a worker is ready, however late. */
  private void tellSystemd(HostEntry entry, WorkerPool pool) throws InterruptedException {
    if (!takesWork(pool.status())) {
      systemd.status(Welcome.NO_WORKER);
    }
    while (systemd.isThere() && !takesWork(pool.status())) {
      Thread.sleep(LOOK_AGAIN);
    }
    if (!signals.isShuttingDown()) {
      systemd.ready(entry);
    }
  }

  /**
   * Checks that ports are free before any worker starts, so that a second host fails at once.
   *
   * @param own addresses at which this process listens itself
   */
  private static void checkPorts(HostConfig config, Collection<InetSocketAddress> own)
      throws IOException {
    for (Map.Entry<String, InetSocketAddress> listener : listeners(config).entrySet()) {
      InetSocketAddress wanted = listener.getValue();
      if (own.stream().noneMatch(it -> BindProbe.overlap(it, wanted))) {
        Surfaces.checkFree(Sys.forAnyThread(), listener.getKey(), wanted);
      }
    }
  }

  private static Map<String, InetSocketAddress> listeners(HostConfig config) {
    var listeners = new LinkedHashMap<String, InetSocketAddress>();
    config.gateway().ifPresent(it -> listeners.put("gateway", it.listen()));
    config.admin().ifPresent(it -> listeners.put("admin surface", it.listen()));
    return listeners;
  }

  /** Returns the faults of a new configuration; the caller reports that it is not valid. */
  private static List<String> problems(Path file, HostConfig current) {
    try {
      checkPorts(ConfigFile.load(file), listeners(current).values());
      return List.of();
    } catch (ConfigException e) {
      return e.faults().stream().map(ConfigFault::toString).toList();
    } catch (IOException e) {
      return List.of(Reason.of(e));
    }
  }

  private URI openGateway(GatewayConfig gateway, WorkerPool pool) throws IOException {
    Gateway server = Gateway.open(Surfaces.gateway(gateway), pool);
    opened.push(server);
    signals.onShutdown(ShutdownPhase.DRAIN, "calls", () -> drain(server));
    return Surfaces.uri("http", gateway.listen(), server.port());
  }

  /** Also stops accepting; otherwise the calls under way might never end. */
  private void drain(Gateway server) {
    if (!server.close(endTime.left())) {
      tell(Level.WARNING, "host.calls_cut", "calls that did not end in time were cut off");
    }
  }

  private URI openAdmin(AdminConfig admin, Optional<Token> token, WorkerPool pool)
      throws IOException {
    var view = new PoolView(config.name(), startedAt, file != null, pool::status, events);
    AdminOptions options = Surfaces.admin(admin, token).readyWhile(() -> takesWork(pool.status()));
    AdminServer server = AdminServer.open(options, signals, meters, log, view);
    closeAtEnd("admin surface", server);
    String scheme = admin.tls().isPresent() ? "https" : "http";
    return Surfaces.uri(scheme, admin.listen(), server.port());
  }

  private static boolean takesWork(PoolStatus status) {
    return !status.circuitOpen()
        && status.workers().stream().anyMatch(PoolStatus.WorkerStatus::isReady);
  }

  private void closeAtEnd(String name, AutoCloseable resource) {
    opened.push(resource);
    signals.onShutdown(name, resource::close);
  }

  private void closeAll() {
    for (AutoCloseable resource : opened) {
      try {
        resource.close();
      } catch (Exception e) { // what made the start fail matters more
        tell(Level.DEBUG, "host.close_failed", "cannot close " + resource + ": " + e);
      }
    }
    signals.close();
  }

  private void tellState(PoolStatus status) {
    tell(
        Level.INFO,
        "host.state",
        "%d workers, %d calls finished, %d failed, %d callers waiting, %d deaths%s"
            .formatted(
                status.workers().size(),
                status.finished(),
                status.failed(),
                status.waiting(),
                status.deaths(),
                status.circuitOpen() ? ", no more are started until USR2 comes" : ""));
    for (PoolStatus.WorkerStatus worker : status.workers()) {
      tell(
          Level.INFO,
          "host.worker",
          "%s (process %d) is %s: %d calls under way, %d finished"
              .formatted(
                  worker.name(),
                  worker.pid(),
                  worker.state(),
                  worker.inFlight(),
                  worker.finished()));
    }
  }

  private void tell(Level level, String event, String message) {
    signals.log(new SignalRecord(level, event, message, Map.of()));
  }
}
