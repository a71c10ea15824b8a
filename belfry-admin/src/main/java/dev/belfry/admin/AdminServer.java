package dev.belfry.admin;

import dev.belfry.http.Obstacle;
import dev.belfry.signals.Registration;
import dev.belfry.signals.ShutdownPhase;
import dev.belfry.signals.SignalLog;
import dev.belfry.signals.SignalRecord;
import dev.belfry.signals.Signals;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Serves the admin surface of a process on its own listener: raising signals, health, metrics, and
 * a console for operators. It does not start without credentials, and no option disables them.
 *
 * {@snippet :
 * var meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
 * Signals signals = Signals.builder().telemetry(new SignalMetrics(meters)).open();
 * AdminServer admin =
 *     AdminServer.open(
 *         new AdminOptions().port(9000).bearerToken(Secret.fromEnvironment("ADMIN_TOKEN")),
 *         signals,
 *         meters,
 *         SignalLog.toSystemLogger());
 * signals.onShutdown("admin", admin::close);
 * }
 */
// r[impl signals.http.utilities]
// r[impl signals.http.not-public]
public final class AdminServer implements AutoCloseable {
  private final WebServer server;
  private final ScheduledExecutorService timers;
  private final Registration draining;
  private final Optional<Console> console;

  private AdminServer(
      WebServer server,
      ScheduledExecutorService timers,
      Registration draining,
      Optional<Console> console) {
    this.server = server;
    this.timers = timers;
    this.draining = draining;
    this.console = console;
  }

  /**
   * Starts listening, without a console.
   *
   * @param meters the registry that {@code /metrics} exposes
   * @param log where each request is logged
   * @throws IOException if it cannot listen
   * @throws IllegalArgumentException if the options are not safe; the message says what to do
   */
  public static AdminServer open(
      AdminOptions options, Signals signals, PrometheusMeterRegistry meters, SignalLog log)
      throws IOException {
    return open(options, signals, meters, log, Optional.empty(), file(options));
  }

  /**
   * Starts listening, with a console: a page at {@code /} on the TCP listener that shows the host.
   * A Unix socket has none, as no browser can reach it.
   *
   * @param view the host that the console shows
   */
  public static AdminServer open(
      AdminOptions options,
      Signals signals,
      PrometheusMeterRegistry meters,
      SignalLog log,
      HostView view)
      throws IOException {
    return open(options, signals, meters, log, Optional.of(view), file(options));
  }

  private static Optional<SocketFile> file(AdminOptions options) {
    return Optional.ofNullable(options.unixSocket).map(SocketFile::new);
  }

  static AdminServer open(
      AdminOptions options,
      Signals signals,
      PrometheusMeterRegistry meters,
      SignalLog log,
      Optional<HostView> view,
      Optional<SocketFile> file)
      throws IOException {
    options.check();
    if (file.isPresent()) {
      file.get().prepare();
    }
    var isDraining = new AtomicBoolean();
    Registration draining =
        signals.onShutdown(
            ShutdownPhase.STOP_ACCEPTING, "not ready any more", () -> isDraining.set(true));
    ScheduledExecutorService timers =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("belfry-admin-deadlines").factory());
    Optional<Console> console = Optional.empty();
    Optional<WebServer> started = Optional.empty();
    try {
      BooleanSupplier takesWork = options.takesWork; // read now: the options may change later
      BooleanSupplier ready = () -> !isDraining.get() && takesWork.getAsBoolean();
      var surface = new Surface(signals, budgets(options), meters, ready);
      var safeLog = new IsolatedLog(log);
      var requests = new RequestLog(safeLog, meters);
      var listeners = new Listeners(surface, budgets(options), requests, timers);
      WebServerConfig.Builder server = WebServer.builder();
      server.shutdownHook(false).featuresDiscoverServices(false);
      InetSocketAddress address = options.address;
      if (address != null) {
        ConnectionDeadline deadline = listeners.deadline();
        if (view.isPresent()) {
          OwnNames names = ownNames(options, address);
          var feed = new ConsoleFeed(view.get(), signals::isShuttingDown, safeLog);
          console = Optional.of(new Console(options, names, signals, feed, deadline));
        }
        listeners.addTcp(server, address, options, deadline, console);
      }
      if (file.isPresent()) {
        listeners.addUnix(server, file.get(), address == null);
      }
      started = Optional.of(server.build().start());
      if (!started.get().isRunning()) {
        started.get().stop(); // else its other listener might look like the obstacle
        throw new IllegalStateException(obstacle(options));
      }
      if (file.isPresent()) {
        file.get().restrict();
      }
      warn(options, safeLog);
      return new AdminServer(started.get(), timers, draining, console);
    } catch (RuntimeException | IOException e) { // whatever keeps it from listening
      draining.close();
      console.ifPresent(Console::close);
      started.ifPresent(WebServer::stop);
      timers.shutdownNow();
      throw new IOException("the admin surface cannot listen: " + e.getMessage(), e);
    }
  }

  private static String obstacle(AdminOptions options) {
    return Optional.ofNullable(options.address)
        .flatMap(Obstacle::at)
        .orElse("something is in the way at " + options.address + " or " + options.unixSocket);
  }

  /** Logs problems that do not prevent listening but that clients will run into. */
  private static void warn(AdminOptions options, SignalLog log) throws IOException {
    if (options.tls != null) {
      for (String warning : options.tls.warnings(Instant.now())) {
        log.log(new SignalRecord(Level.WARNING, "admin.tls", warning, Map.of()));
      }
    }
  }

  private static OwnNames ownNames(AdminOptions options, InetSocketAddress address)
      throws IOException {
    return new OwnNames(address, Optional.ofNullable(options.tls).map(AdminTls::certificates));
  }

  private static ClientBudgets budgets(AdminOptions options) {
    return new ClientBudgets(options.signalsPerMinute, options.nanoClock);
  }

  /** The TCP port on which it listens; -1 if there is none. */
  public int port() {
    return server.port();
  }

  /** Closes the listeners and aborts requests in progress. */
  @Override
  public void close() {
    draining.close();
    console.ifPresent(
        Console::close); // first, so that viewers are told before they are disconnected
    server.stop();
    timers.shutdownNow();
  }
}
