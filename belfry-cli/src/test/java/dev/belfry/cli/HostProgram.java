package dev.belfry.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * {@code belfry run} as a real process, with its own run directory and, if its configuration says
 * so, at free ports.
 */
final class HostProgram implements AutoCloseable {
  static final Path BELFRY = Installation.PROJECT.resolve("belfry");

  /** Longer than anything a host does takes on a slow machine. */
  static final Duration GENEROUS = Duration.ofSeconds(60);

  private final Program program;
  private final Path runtime;
  private String firstLine = "";
  private final HttpClient client = HttpClient.newHttpClient();
  private URI gateway = URI.create("http://not.yet");
  private URI admin = URI.create("http://not.yet");
  private int pid;

  private HostProgram(Program program, Path runtime) {
    this.program = program;
    this.runtime = runtime;
  }

  /** Starts a host and returns when its workers are ready. */
  static HostProgram start(Path directory, String... arguments) throws Exception {
    return start(of(directory, arguments), directory);
  }

  static HostProgram start(Program.Start start, Path directory) throws Exception {
    return start(start.start(), directory);
  }

  static HostProgram start(Program program, Path directory) throws Exception {
    var host = new HostProgram(program, directory);
    try {
      host.awaitWelcome();
      return host;
    } catch (Throwable e) { // else it would run on, with nothing to end it
      host.close();
      throw e;
    }
  }

  /** Whether nothing listens at a port. */
  static boolean isFree(int port) {
    try (var socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return false;
    } catch (IOException refused) {
      return true;
    }
  }

  /** Returns how to start a host. */
  static Program.Start of(Path directory, String... arguments) {
    return at(
        directory,
        Program.of(
            BELFRY, Stream.concat(Stream.of("run"), Stream.of(arguments)).toArray(String[]::new)));
  }

  /** Returns how to start a host by a shell, which execs it. */
  static Program.Start byShell(Path directory, String line) {
    return at(directory, Program.of("sh", "-c", line));
  }

  private static Program.Start at(Path directory, Program.Start start) {
    return start.with("XDG_RUNTIME_DIR", directory.toString()).in(directory);
  }

  /** Writes a configuration: two demonstration workers, free ports, and these lines. */
  static Path config(Path directory, String... lines) throws IOException {
    String text =
        "name: tested\nworkers:\n  builtin: demo\n"
            + "gateway: {listen: '127.0.0.1:0'}\nadmin: {listen: '127.0.0.1:0'}\n"
            + String.join("\n", lines)
            + "\n";
    return Files.writeString(directory.resolve("belfry.yaml"), text);
  }

  /** Reads the host's welcome; call it again after a restart. */
  void awaitWelcome() throws Exception {
    do {
      firstLine = program.awaitLine("");
    } while (!firstLine.contains("(pid "));
    pid = Integer.parseInt(firstLine.replaceFirst(".*\\(pid ([0-9]+)\\).*", "$1"));
    gateway = URI.create(program.awaitLine("  calls").replaceFirst(".*POST (.*)/call/.*", "$1"));
    admin = URI.create(program.awaitLine("  console").replaceFirst(".*console ", ""));
  }

  Program program() {
    return program;
  }

  /** Returns the process id of the host, which may be the child of a supervisor. */
  int pid() {
    return pid;
  }

  String firstLine() {
    return firstLine;
  }

  URI admin() {
    return admin;
  }

  URI gateway() {
    return gateway;
  }

  String token() throws IOException {
    return Files.readString(runtime.resolve("belfry/admin-token")).strip();
  }

  /** Returns the live child processes of the host. */
  List<ProcessHandle> workers() {
    return ProcessHandle.of(pid).stream().flatMap(ProcessHandle::children).toList();
  }

  /** Calls a method. The future completes with the answer, or when the connection ends. */
  CompletableFuture<HttpResponse<String>> call(String method, String payload) {
    return client.sendAsync(
        HttpRequest.newBuilder(gateway.resolve("/call/" + method))
            .POST(BodyPublishers.ofString(payload))
            .build(),
        BodyHandlers.ofString(UTF_8));
  }

  /** Calls {@code sleep} and returns when a worker has the call. */
  CompletableFuture<HttpResponse<String>> sleep(Duration duration) {
    var call = call("sleep", Long.toString(duration.toMillis()));
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> call.isDone() || metric("belfry_calls_in_flight") > 0);
    return call;
  }

  double metric(String name) throws Exception {
    return get("/metrics")
        .body()
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .findFirst()
        .orElse(0); // a counter that is still zero is missing
  }

  /** Sends a GET request to the admin surface. */
  HttpResponse<String> get(String path) throws Exception {
    return client.send(
        HttpRequest.newBuilder(admin.resolve(path))
            .header("Authorization", "Bearer " + token())
            .build(),
        BodyHandlers.ofString(UTF_8));
  }

  @Override
  public void close() throws IOException {
    client.shutdownNow();
    program.close();
  }
}
