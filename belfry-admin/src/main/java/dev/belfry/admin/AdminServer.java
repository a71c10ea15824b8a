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
 * Serves the admin surface of a process on a listener of its own: raising signals, health, metrics,
 * and a console for people. It does not start without credentials, and nothing switches them off.
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
   * Starts to listen, without a console.
   *
   * @param meters what {@code /metrics} shows
   * @param log where each request is logged
   * @throws IOException if it cannot listen there
   * @throws IllegalArgumentException if the options are not safe, with what to do about it
   */
  public static AdminServer open(
      AdminOptions options, Signals signals, PrometheusMeterRegistry meters, SignalLog log)
      throws IOException {
    return open(options, signals, meters, log, Optional.empty(), file(options));
  }

  /**
   * The same with a console: a page at {@code /} of the TCP listener that shows the host. There is
   * none at a Unix socket, which no browser can reach.
   *
   * @param view what it shows
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
      BooleanSupplier takesWork = options.takesWork; // not when it is asked: others may change it
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
        started.get().stop(); // or a listener of its own might be what is in the way
        throw new IllegalStateException(obstacle(options));
      }
      if (file.isPresent()) {
        file.get().restrict();
      }
      warn(options, safeLog);
      return new AdminServer(started.get(), timers, draining, console);
    } catch (RuntimeException | IOException e) { // for whatever keeps it from listening
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

  /** Of what clients will find wrong with a surface that is open. */
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

  /** The TCP port it listens at; -1 without one. */
  public int port() {
    return server.port();
  }

  /** Closes the listeners; requests under way are cut off. */
  @Override
  public void close() {
    draining.close();
    console.ifPresent(Console::close); // its viewers are told, before they are cut off
    server.stop();
    timers.shutdownNow();
  }
}
