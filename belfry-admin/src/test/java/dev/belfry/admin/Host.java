package dev.belfry.admin;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.signals.Platform;
import dev.belfry.signals.SignalRecord;
import dev.belfry.signals.SignalsTesting;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A host with an admin surface inside the test: signals do not end it, and its clock is manual. */
final class Host implements AutoCloseable {
  private static @Nullable Certificates certificates;

  final SignalsTesting test;
  final List<SignalRecord> log = new CopyOnWriteArrayList<>();
  final AtomicLong nanos = new AtomicLong();
  final PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  final Path socket;
  final AdminServer admin;
  private final Transport transport;

  private Host(Transport transport, AdminOptions options, Path socket, Platform platform)
      throws Exception {
    this.transport = transport;
    this.socket = socket;
    this.test = SignalsTesting.open(platform);
    this.admin = AdminServer.open(options.nanoClock(nanos::get), test.signals(), meters, log::add);
  }

  private Host(Transport transport, AdminOptions options, HostView view) throws Exception {
    this.transport = transport;
    this.socket = Path.of("");
    this.test = SignalsTesting.open(Platform.LINUX);
    this.admin =
        AdminServer.open(options.nanoClock(nanos::get), test.signals(), meters, log::add, view);
  }

  /** Opens a host with a console. */
  static Host open(Transport transport, HostView view) throws Exception {
    return open(transport, transport.options(certificates(), newSocket()), view);
  }

  static Host open(Transport transport, AdminOptions options, HostView view) throws Exception {
    return new Host(transport, options, view);
  }

  static synchronized Certificates certificates() throws Exception {
    Certificates made = certificates != null ? certificates : Certificates.create();
    certificates = made;
    return made;
  }

  static Host open(Transport transport) throws Exception {
    return open(transport, Platform.LINUX);
  }

  static Host open(Transport transport, Platform platform) throws Exception {
    Path socket = newSocket();
    return new Host(transport, transport.options(certificates(), socket), socket, platform);
  }

  static Host open(Transport transport, AdminOptions options) throws Exception {
    return new Host(transport, options, newSocket(), Platform.LINUX);
  }

  static Host openWithSocket(Function<Path, AdminOptions> options) throws Exception {
    Path socket = newSocket();
    return new Host(Transport.PLAIN, options.apply(socket), socket, Platform.LINUX);
  }

  /** Returns the path of a socket in a directory that does not exist yet. */
  static Path newSocket() throws Exception {
    return Scratch.newDirectory("socket").resolve("private").resolve("admin.sock");
  }

  int port() {
    return admin.port();
  }

  /** Sends a request with the owner's credentials. */
  Answered send(String method, String path, Map<String, String> headers, String body)
      throws Exception {
    var all = new HashMap<>(transport.credentials());
    all.putAll(headers);
    return sendAs(method, path, all, body.getBytes(UTF_8));
  }

  /** Sends a request with exactly these headers. */
  Answered sendAs(String method, String path, Map<String, String> headers, byte[] body)
      throws Exception {
    return transport.send(certificates(), port(), socket, method, path, headers, body);
  }

  Answered signal(String body) throws Exception {
    return send("POST", "/admin/signal", Map.of("Content-Type", "application/json"), body);
  }

  void advance(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Override
  public void close() {
    admin.close();
    test.close();
  }
}
