package dev.belfry.cli.call;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.cli.hosts.HostEntry;
import dev.belfry.gateway.Gateway;
import dev.belfry.gateway.GatewayOptions;
import dev.belfry.testkit.TestProcess;
import dev.belfry.workers.PoolOptions;
import dev.belfry.workers.WorkerPool;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Calls to a gateway with real workers. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class CallCommandTest {
  private static final byte[] NO_TEXT = {0, (byte) 0xff, '\n', (byte) 0xc3, 7};

  private WorkerPool pool;
  private Gateway gateway;
  private URI url;
  private InputStream input = InputStream.nullInputStream();

  @BeforeAll
  void open() throws Exception {
    pool =
        WorkerPool.open(
            PoolOptions.of(TestProcess.javaCommand(CallWorker.class))
                .workers(1)
                .spares(1)
                .attempts(1)
                .crashLimit(99));
    assertThat(pool.awaitReady(TestProcess.PATIENCE)).isTrue();
    gateway = Gateway.open(atAnyPort(), pool);
    url = urlOf(gateway);
  }

  @AfterAll
  void close() throws Exception {
    gateway.close();
    pool.close();
  }

  private static GatewayOptions atAnyPort() {
    return new GatewayOptions().address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  private static URI urlOf(Gateway gateway) {
    return URI.create("http://127.0.0.1:" + gateway.port());
  }

  /** The result of a command line. */
  private static final class Ran {
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final StringWriter err = new StringWriter();
    int exitCode;

    String text() {
      return out.toString(UTF_8);
    }

    JsonNode json() {
      return JsonMapper.shared().readTree(out.toByteArray());
    }
  }

  private Ran run(String... args) {
    return run(which -> host(url), args);
  }

  private Ran run(CallCommand.Finder finder, String... args) {
    var ran = new Ran();
    var out = new PrintWriter(ran.out, true, UTF_8);
    ran.exitCode =
        new CommandLine(new CallCommand(input, ran.out, finder))
            .setExpandAtFiles(false)
            .setOut(out)
            .setErr(new PrintWriter(ran.err, true))
            .execute(args);
    out.flush();
    return ran;
  }

  private static HostEntry host(URI gateway) {
    return new HostEntry(1, "host", gateway, null, Path.of("/none"), null, Instant.EPOCH);
  }

  @Test
  void theRunningHostIsFoundAndItsAnswerPrintedAsItIs() {
    Ran ran = run("echo", "grüße");
    assertThat(ran.exitCode).isZero();
    assertThat(ran.text()).isEqualTo("grüße");
    assertThat(ran.err.toString()).isEmpty();
    assertThat(run("a b/ü", "x").text()).isEqualTo("x");
  }

  @Test
  void dataComesFromAFileOrStandardInputByteForByte(@TempDir Path directory) throws Exception {
    Path file = Files.write(directory.resolve("data"), NO_TEXT);
    assertThat(run("echo", "@" + file).out.toByteArray()).isEqualTo(NO_TEXT);
    input = new ByteArrayInputStream(NO_TEXT);
    assertThat(run("echo", "-").out.toByteArray()).isEqualTo(NO_TEXT);
    assertThat(run("echo").out.toByteArray()).isEmpty();
    assertThat(run("echo", "--", "-x").text()).isEqualTo("-x");
  }

  @Test
  void aFileThatCannotBeReadIsAWrongCommandLine() {
    Ran ran = run("echo", "@/nowhere/at/all");
    assertThat(ran.exitCode).isEqualTo(2);
    assertThat(ran.err.toString()).contains("Cannot read /nowhere/at/all");
    assertThat(run("echo", "--deadline", "0").exitCode).isEqualTo(2);
    assertThat(run().exitCode).isEqualTo(2);
  }

  /** Regression: it was read until memory ran out, and only that was reported. */
  @Test
  void dataThatNoPayloadCanBeIsNotReadToItsEnd() throws Exception {
    Ran file = run("echo", "@/dev/zero");
    assertThat(file.exitCode).isEqualTo(2);
    assertThat(file.err.toString()).contains("/dev/zero has more than 64 MiB");
    input = Files.newInputStream(Path.of("/dev/zero"));
    try (InputStream _ = input) {
      assertThat(run("echo", "-").err.toString()).contains("standard input has more than 64 MiB");
    }
  }

  /** Regression: no file name meant the working directory, no method was "not found". */
  @Test
  void anEmptyNameIsAWrongCommandLine() {
    Ran file = run("echo", "@");
    assertThat(file.exitCode).isEqualTo(2);
    assertThat(file.err.toString()).startsWith("Say which file: @FILE.");
    Ran method = run("", "x");
    assertThat(method.exitCode).isEqualTo(2);
    assertThat(method.err.toString()).startsWith("Say which METHOD to call.");
  }

  /** Regression: the gateway refused it as "not above 0". */
  @Test
  void aDeadlineMayBeAsLongAsAnybodyLikes() {
    assertThat(run("echo", "x", "--deadline", Long.toString(Long.MAX_VALUE)).text()).isEqualTo("x");
  }

  /** Regression: other bytes than were typed were sent, and the call succeeded. */
  @Test
  void whatTheLocaleCannotExpressIsNotSent() {
    for (String[] args : new String[][] {{"echo", "gr\ufffd\ufffdn"}, {"gr\ufffd\ufffdn"}}) {
      Ran ran = run(args);
      assertThat(ran.exitCode).isEqualTo(2);
      assertThat(ran.err.toString()).contains("locale", "@FILE");
    }
  }

  @Test
  void aCallThatFailsSaysWhyAndExitsWithOne() {
    Ran unknown = run("nothing");
    assertThat(unknown.exitCode).isEqualTo(1);
    assertThat(unknown.out.toByteArray()).isEmpty();
    assertThat(unknown.err.toString())
        .isEqualTo("belfry call: no worker has a method 'nothing' (404 unknown_method)\n");

    Ran late = run("sleep", "60000", "--deadline", "100");
    assertThat(late.exitCode).isEqualTo(1);
    assertThat(late.err.toString()).contains("within 100 ms (504 deadline_passed)");
  }

  @Test
  void theLastWordsOfADeadWorkerAreShown() {
    Ran letter = run("crash");
    assertThat(letter.exitCode).isEqualTo(1);
    assertThat(letter.err.toString()).contains("(502 dead_letter)\n  my last words\n");

    Ran once = run("crash", "--at-most-once", "--json");
    assertThat(once.exitCode).isEqualTo(1);
    assertThat(once.json().get("error").asString()).isEqualTo("worker_died");
    assertThat(once.json().get("http_status").asInt()).isEqualTo(502);
    assertThat(once.json().get("worker").get("exit_status").asInt()).isEqualTo(137);
  }

  @Test
  void machinesGetJson() {
    JsonNode text = run("echo", "hello", "--json").json();
    assertThat(text.get("status").asString()).isEqualTo("ok");
    assertThat(text.get("http_status").asInt()).isEqualTo(200);
    assertThat(text.get("micros").asLong()).isPositive();
    assertThat(text.get("answer").asString()).isEqualTo("hello");
    input = new ByteArrayInputStream(NO_TEXT);
    assertThat(run("echo", "-", "--json").json().get("answer_base64").asString())
        .isEqualTo("AP8Kwwc=");
  }

  /** Regression: the message said neither why no worker is left nor how to get new ones. */
  @Test
  void anOpenCircuitIsToldWithTheLastWordsAndTheWayOut() throws Exception {
    PoolOptions options =
        PoolOptions.of("sh", "-c", "echo my last words >&2; exit 9")
            .workers(1)
            .spares(0)
            .crashLimit(2)
            .restartDelay(Duration.ofMillis(1), Duration.ofMillis(1));
    try (WorkerPool broken = WorkerPool.open(options);
        Gateway there = Gateway.open(atAnyPort(), broken)) {
      Ran ran = run("echo", "x", "--url", urlOf(there).toString());
      assertThat(ran.exitCode).isEqualTo(1);
      assertThat(ran.err.toString())
          .contains("2 workers in a row died before they had finished a call, and no more are")
          .contains("; once the cause is fixed: belfry signal HOST USR2 (503 circuit_open)")
          .endsWith("\n  my last words\n");
    }
  }

  @Test
  void aTokenIsSentWhereOneIsWanted(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("token"), "secret\n");
    try (Gateway guarded = Gateway.open(atAnyPort().bearer("secret"::equals), pool)) {
      String there = urlOf(guarded).toString();
      assertThat(run("echo", "x", "--url", there).err.toString())
          .contains("is missing or wrong; --token-file says where it is (401 unauthorized)");
      assertThat(run("echo", "x", "--url", there, "--token-file", file.toString()).text())
          .isEqualTo("x");
    }
  }

  /** Regression: the error message showed the content, perhaps of a wrong file. */
  @Test
  void whatIsNoTokenIsNotSentAndNotShown(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("token"), "key\nof somebody");
    Ran ran = run("echo", "x", "--token-file", file.toString());
    assertThat(ran.exitCode).isEqualTo(2);
    assertThat(ran.err.toString()).startsWith(file.toString()).doesNotContain("key", "somebody");
  }

  /** Regression: the message was that it has no token in it. */
  @Test
  void aFileThatIsTooLongForATokenIsToldAsThat(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("token"), "k".repeat(5000));
    Ran ran = run("echo", "x", "--token-file", file.toString());
    assertThat(ran.exitCode).isEqualTo(2);
    assertThat(ran.err.toString())
        .startsWith(file + " is too long for a token, which has at most 4096 characters");
  }

  @Test
  void withoutAHostItExitsWithThree() {
    Ran none =
        run(
            which -> {
              throw new IOException("no host is called " + which);
            },
            "echo",
            "--host",
            "other");
    assertThat(none.exitCode).isEqualTo(3);
    assertThat(none.err.toString()).isEqualTo("belfry call: no host is called other\n");

    Ran without =
        run(
            _ -> new HostEntry(7, "mute", null, null, Path.of("/none"), null, Instant.EPOCH),
            "echo");
    assertThat(without.exitCode).isEqualTo(3);
    assertThat(without.err.toString()).contains("mute (pid 7) has no gateway");

    Ran gone = run("echo", "--url", "http://127.0.0.1:1");
    assertThat(gone.exitCode).isEqualTo(3);
    assertThat(gone.err.toString())
        .isEqualTo("belfry call: cannot call http://127.0.0.1:1: nobody is there\n");
  }

  /** Regression: the message was "nobody is there", as if the host only had to be started. */
  @Test
  void aMachineThatNobodyKnowsIsToldFromOneWhereNobodyListens() {
    Ran unknown = run("echo", "--url", "http://nowhere.invalid:7070");
    assertThat(unknown.exitCode).isEqualTo(3);
    assertThat(unknown.err.toString())
        .isEqualTo(
            "belfry call: cannot call http://nowhere.invalid:7070: no machine is known by the name"
                + " nowhere.invalid\n");
  }

  /** Regression: they got nothing, though --json promises to say why there is no answer. */
  @Test
  void machinesGetJsonAlsoWhereNoGatewayAnswers() throws Exception {
    Ran none = run("echo", "--json", "--url", "http://127.0.0.1:1");
    assertThat(none.exitCode).isEqualTo(3);
    assertThat(none.json().get("status").asString()).isEqualTo("error");
    assertThat(none.json().get("error").asString()).isEqualTo("no_host");
    assertThat(none.json().get("message").asString()).endsWith("nobody is there");
    assertThat(none.err.toString()).isEmpty();
    try (var silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String there = "http://127.0.0.1:" + silent.getLocalPort();
      Ran hangs = run("echo", "--json", "--deadline", "100", "--url", there);
      assertThat(hangs.exitCode).isEqualTo(1);
      assertThat(hangs.json().get("error").asString()).isEqualTo("no_reply");
    }
  }

  /** Regression: the call went to the address, whichever host was named. */
  @Test
  void twoPlacesToCallAreAWrongCommandLine() {
    Ran ran = run("echo", "--host", "another", "--url", url.toString());
    assertThat(ran.exitCode).isEqualTo(2);
    assertThat(ran.err.toString()).contains("--host or with --url, not with both");
  }

  /** Regression: some were reported as a missing host, others by the name of an exception. */
  @ParameterizedTest
  @ValueSource(
      strings = {"mailto:x", "127.0.0.1:7070", "localhost:7070", "ftp://a", "http://a:70000"})
  void whatIsNoWebAddressIsAWrongCommandLine(String url) {
    Ran ran = run("echo", "--url", url);
    assertThat(ran.exitCode).isEqualTo(2);
    assertThat(ran.err.toString())
        .contains("'" + url + "' is not the URL of a gateway, such as http://127.0.0.1:7070.")
        .doesNotContain("java.");
  }

  /** Regression: the message included the type of the exception. */
  @Test
  void aGatewayWithoutEncryptionIsToldInWords() throws Exception {
    try (var plain = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.startVirtualThread(() -> answerInTheClear(plain));
      Ran ran = run("echo", "--url", "https://127.0.0.1:" + plain.getLocalPort());
      assertThat(ran.exitCode).isEqualTo(3);
      assertThat(ran.err.toString())
          .startsWith("belfry call: cannot call https://127.0.0.1:")
          .doesNotContain("java");
    }
  }

  private static void answerInTheClear(ServerSocket server) {
    try (Socket client = server.accept()) {
      client.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(UTF_8));
      client.getInputStream().readAllBytes();
    } catch (IOException e) {
      // The caller has given up.
    }
  }

  /** Regression: a stopped host accepts connections but never replies; callers waited forever. */
  @Test
  void aDeadlineHoldsAlsoWhereNobodyAnswers() throws Exception {
    try (var silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String there = "http://127.0.0.1:" + silent.getLocalPort();
      Ran ran = run("echo", "x", "--deadline", "100", "--url", there);
      assertThat(ran.exitCode).isEqualTo(1);
      assertThat(ran.err.toString())
          .startsWith("belfry call: " + there + " says nothing")
          .hasLineCount(1);
    }
  }

  /** Regression: there was no limit without --deadline, and callers waited forever. */
  @Test
  void withoutADeadlineOfItsOwnACallHasHalfAMinute() throws Exception {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      CompletableFuture<String> head = headOfRequest(server, "HTTP/1.1 200 OK\r\n\r\n");
      assertThat(run("echo", "--url", "http://127.0.0.1:" + server.getLocalPort()).exitCode)
          .isZero();
      assertThat(head.get()).containsIgnoringCase("\nBelfry-Deadline: 30000\r\n");
      assertThat(run("--help").text()).contains("30000");
    }
  }

  /** Regression: the deadline covered only the head of the response. */
  @Test
  void aDeadlineHoldsAlsoForTheRestOfAnAnswer() throws Exception {
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var _ = headOfRequest(server, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
      String there = "http://127.0.0.1:" + server.getLocalPort();
      Ran ran = run("echo", "x", "--deadline", "100", "--url", there);
      assertThat(ran.exitCode).isEqualTo(1);
      assertThat(ran.err.toString()).startsWith("belfry call: " + there + " says nothing");
      assertThat(ran.out.toByteArray()).isEmpty();
    }
  }

  /** Answers one request. Closes the connection, unless the answer states its length. */
  private static CompletableFuture<String> headOfRequest(ServerSocket server, String answer) {
    var head = new CompletableFuture<String>();
    Thread.startVirtualThread(
        () -> {
          try (Socket client = server.accept()) {
            var read = new StringBuilder();
            while (read.indexOf("\r\n\r\n") < 0) {
              read.append((char) client.getInputStream().read());
            }
            client.getOutputStream().write(answer.getBytes(UTF_8));
            head.complete(read.toString());
            if (answer.contains("Length")) {
              client.getInputStream().readAllBytes(); // until the caller gives up
            }
          } catch (IOException e) {
            head.completeExceptionally(e);
          }
        });
    return head;
  }

  @Test
  void whoIsNoGatewayGivesNoReason() {
    assertThat(new Reply(404, "<html>".getBytes(UTF_8), 1).toText())
        .isEqualTo("no answer, and no reason that can be read (404 unknown)");
    byte[] admin = "{\"error\":\"not_found\",\"message\":\"Nothing\"}".getBytes(UTF_8);
    assertThat(new Reply(404, admin, 1).toText())
        .isEqualTo("this is not a gateway: Nothing (404 not_found)");
  }
}
