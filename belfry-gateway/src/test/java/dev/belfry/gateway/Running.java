package dev.belfry.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import dev.belfry.workers.PoolOptions;
import dev.belfry.workers.PoolStatus;
import dev.belfry.workers.WorkerPool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A gateway with its pool of {@link TestWorker}s, and a client. */
final class Running implements AutoCloseable {
  static final Duration LONG = Duration.ofSeconds(60);

  final WorkerPool pool;
  final Gateway gateway;
  final HttpClient client = HttpClient.newHttpClient();

  private Running(WorkerPool pool, Gateway gateway) {
    this.pool = pool;
    this.gateway = gateway;
  }

  /** Options for one worker and a spare. */
  static PoolOptions pool() {
    return PoolOptions.of(TestProcess.javaCommand(TestWorker.class)).workers(1).spares(1);
  }

  /** Options for any free port. */
  static GatewayOptions options() {
    return new GatewayOptions().address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  static Running open() throws Exception {
    return open(pool(), options());
  }

  static Running open(PoolOptions pool, GatewayOptions options) throws Exception {
    WorkerPool opened = WorkerPool.open(pool);
    assertThat(opened.awaitReady(LONG)).isTrue();
    return new Running(opened, Gateway.open(options, opened));
  }

  /** Opens a gateway without waiting for workers, which may never be ready. */
  static Running openAtOnce(PoolOptions pool, GatewayOptions options) throws IOException {
    WorkerPool opened = WorkerPool.open(pool);
    return new Running(opened, Gateway.open(options, opened));
  }

  HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + gateway.port() + path));
  }

  HttpRequest.Builder call(String method, byte[] payload) {
    return to("/call/" + method).POST(BodyPublishers.ofByteArray(payload));
  }

  HttpRequest.Builder call(String method, String payload) {
    return call(method, payload.getBytes(UTF_8));
  }

  HttpResponse<byte[]> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofByteArray());
  }

  /** Sends a request and returns the answer as text; fails unless the status is 200. */
  String text(HttpRequest.Builder request) throws Exception {
    HttpResponse<byte[]> response = send(request);
    String text = new String(response.body(), UTF_8);
    assertThat(response.statusCode()).as(text).isEqualTo(200);
    return text;
  }

  static JsonNode json(HttpResponse<byte[]> response) {
    assertThat(response.headers().firstValue("content-type")).contains("application/json");
    JsonNode body = JsonMapper.shared().readTree(response.body());
    assertThat(body.get("status").asString()).isEqualTo("error");
    assertThat(body.get("message").asString()).isNotBlank();
    return body;
  }

  /** Returns a complete request, for a plain socket. */
  static String post(String method, String headers, String body) {
    return "POST /call/%s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s"
        .formatted(method, headers, body.length(), body);
  }

  SocketChannel connect() throws IOException {
    return SocketChannel.open(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port()));
  }

  int inFlight() {
    return pool.status().workers().stream().mapToInt(PoolStatus.WorkerStatus::inFlight).sum();
  }

  static void kill(String pid) throws IOException {
    Processes.kill(Sys.forAnyThread(), Integer.parseInt(pid), Signo.KILL);
  }

  @Override
  public void close() throws IOException {
    client.shutdownNow();
    gateway.close();
    pool.close();
  }
}
