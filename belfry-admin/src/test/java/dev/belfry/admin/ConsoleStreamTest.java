package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.belfry.signals.Registration;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What the console's stream sends, and when it ends. */
@Timeout(120)
final class ConsoleStreamTest {
  private static BufferedReader reader(SocketChannel channel) {
    return new BufferedReader(Channels.newReader(channel, StandardCharsets.UTF_8));
  }

  /** Reads lines up to the first that contains a text. */
  private static List<String> until(BufferedReader stream, String text) throws IOException {
    var lines = new ArrayList<String>();
    for (String line = stream.readLine(); line != null; line = stream.readLine()) {
      lines.add(line);
      if (line.contains(text)) {
        return lines;
      }
    }
    throw new IOException("the stream ended without '" + text + "' after " + lines);
  }

  private static int status(SocketChannel channel) throws IOException {
    return Integer.parseInt(reader(channel).readLine().split(" ", -1)[1]);
  }

  @Test
  void aStreamOutlivesTheTimeOfARequestAndBeginsWithWhatWasBefore() throws Exception {
    var view = new LivelyHost();
    view.events.add("death", "before anybody looked");
    try (Host host = Host.open(Transport.PLAIN, view)) {
      Visitor visitor = Visitor.signedIn(host);
      try (SocketChannel channel = visitor.stream()) {
        BufferedReader stream = reader(channel);
        List<String> head = until(stream, "event: history");
        assertThat(head.getFirst()).isEqualTo("HTTP/1.1 200 OK");
        assertThat(String.join("\n", head).toLowerCase(Locale.ROOT))
            .contains("content-type: text/event-stream", "cache-control: no-store");
        until(stream, "before anybody looked");
        long start = System.nanoTime();
        while (System.nanoTime() - start < Listeners.CONNECTION_LIMIT.plusSeconds(2).toNanos()) {
          assertThat(until(stream, "\"host\":").getLast()).contains("\"name\":\"belltower\"");
        }
        view.kill(0);
        until(stream, "was killed by SIGKILL");
        assertThat(until(stream, "\"host\":").getLast()).contains("\"deaths\":1");
      }
    }
  }

  /** The page announces events after the first state as news to screen readers. */
  @Test
  void whatIsRememberedComesBeforeTheFirstState() throws Exception {
    var view = new LivelyHost();
    view.events.add("death", "the first that is remembered");
    view.events.add("ready", "the last that is remembered");
    try (Host host = Host.open(Transport.PLAIN, view)) {
      Visitor visitor = Visitor.signedIn(host);
      try (SocketChannel early = visitor.stream()) {
        until(reader(early), "event: state"); // from now on a new viewer gets a state at once
        try (SocketChannel late = visitor.stream()) {
          assertThat(String.join("\n", until(reader(late), "event: state")))
              .containsSubsequence(
                  "event: history",
                  "the first that is remembered",
                  "the last that is remembered",
                  "event: state");
        }
      }
    }
  }

  @Test
  void itIsForThoseWhoHaveSignedIn() throws Exception {
    try (Host host = Host.open(Transport.PLAIN, new LivelyHost())) {
      assertThat(Visitor.of(host).get("/console/stream").status()).isEqualTo(401);
      Visitor liar = Visitor.of(host).with("Cookie", "belfry-" + host.port() + "=guess");
      assertThat(liar.get("/console/stream").status()).isEqualTo(401);
    }
  }

  @Test
  void itEndsWithTheSession() throws Exception {
    try (Host host = Host.open(Transport.PLAIN, new LivelyHost())) {
      Visitor leaving = Visitor.signedIn(host);
      Visitor staying = Visitor.signedIn(host);
      try (SocketChannel one = leaving.stream();
          SocketChannel two = staying.stream()) {
        BufferedReader stream = reader(one);
        until(stream, "event: state");
        BufferedReader other = reader(two);
        until(other, "event: state");
        leaving.post("/console/logout");
        until(stream, "{\"reason\": \"session\"}");
        assertThat(stream.lines().toList()).contains("0"); // the last chunk of the body
        host.advance(Sessions.LIFETIME);
        until(other, "{\"reason\": \"session\"}");
      }
    }
  }

  @Test
  void itEndsWithTheServerAndSaysSo() throws Exception {
    try (Host host = Host.open(Transport.PLAIN, new LivelyHost())) {
      try (SocketChannel channel = Visitor.signedIn(host).stream()) {
        BufferedReader stream = reader(channel);
        until(stream, "event: state");
        host.admin.close();
        until(stream, "{\"reason\": \"closed\"}"); // before the connection is closed
      }
    }
  }

  @Test
  void thereAreOnlySoManyAtATime() throws Exception {
    try (Host host = Host.open(Transport.PLAIN, new LivelyHost())) {
      Visitor visitor = Visitor.signedIn(host);
      var open = new ArrayList<SocketChannel>();
      for (int i = 0; i < ConsoleFeed.MAX_STREAMS; i++) {
        SocketChannel channel = visitor.stream();
        open.add(channel);
        assertThat(status(channel)).isEqualTo(200);
      }
      assertThat(visitor.get("/console/stream").status()).isEqualTo(503);
      assertThat(visitor.signal("USR1").status()).isEqualTo(202); // other requests still work
      open.removeLast().close();
      await().atMost(Duration.ofSeconds(20)).until(() -> isServed(visitor));
      for (SocketChannel channel : open) {
        channel.close();
      }
    }
  }

  private static boolean isServed(Visitor visitor) throws IOException {
    try (SocketChannel channel = visitor.stream()) {
      return status(channel) == 200;
    }
  }

  /** Otherwise sixteen viewers that read nothing would keep everybody else out. */
  @Test
  void whoReadsNothingIsCutOff() throws Exception {
    var view = new LivelyHost();
    try (Host host = Host.open(Transport.PLAIN, view)) {
      Visitor visitor = Visitor.signedIn(host);
      var deaf = new ArrayList<SocketChannel>();
      for (int i = 0; i < ConsoleFeed.MAX_STREAMS; i++) {
        SocketChannel channel = visitor.stream();
        channel.setOption(StandardSocketOptions.SO_RCVBUF, 4096);
        deaf.add(channel);
      }
      await().until(() -> visitor.get("/console/stream").status() == 503);
      Thread noise =
          Thread.startVirtualThread(
              () -> {
                while (!Thread.currentThread().isInterrupted()) {
                  view.events.add("noise", "x".repeat(400));
                }
              });
      try {
        await().atMost(Duration.ofSeconds(30)).until(() -> isServed(visitor));
      } finally {
        noise.interrupt();
        noise.join();
      }
      for (SocketChannel channel : deaf) {
        channel.close();
      }
    }
  }

  @Test
  void aCertificateOpensIt() throws Exception {
    try (Host host = Host.open(Transport.MTLS, new LivelyHost())) {
      var client = Host.certificates().client(Optional.of("alice"));
      var request =
          java.net.http.HttpRequest.newBuilder(
                  java.net.URI.create("https://localhost:" + host.port() + "/console/stream"))
              .build();
      var response = client.send(request, java.net.http.HttpResponse.BodyHandlers.ofLines());
      assertThat(response.statusCode()).isEqualTo(200);
      try (var lines = response.body()) {
        assertThat(lines.filter(it -> it.startsWith("data: {\"at\"")).limit(7)).hasSize(7);
      }
    }
  }

  /**
   * Sampling used to stop for good after an error, or after an exception whose text was null or
   * could not be obtained.
   */
  @ParameterizedTest
  @MethodSource("failures")
  void aHostThatCannotBeSeenIsLoggedOnceAndLookedAtAgain(Runnable failing, String error)
      throws Exception {
    var looks = new AtomicInteger();
    HostView view =
        new HostView() {
          private final LivelyHost host = new LivelyHost();

          @Override
          public HostState state() {
            if (looks.incrementAndGet() <= 2) {
              failing.run();
            }
            return host.state();
          }

          @Override
          public Registration onEvent(Consumer<HostEvent> listener) {
            return host.onEvent(listener);
          }
        };
    try (Host host = Host.open(Transport.PLAIN, view)) {
      try (SocketChannel channel = Visitor.signedIn(host).stream()) {
        until(reader(channel), "\"name\":\"belltower\"");
      }
      assertThat(host.log)
          .filteredOn(it -> it.event().equals("console.no_state"))
          .singleElement()
          .satisfies(it -> assertThat(it.fields()).isEqualTo(Map.of("error", error)));
    }
  }

  static Stream<Arguments> failures() {
    return Stream.of(
        arguments(
            (Runnable) ConsoleStreamTest::failWithException,
            "java.lang.IllegalStateException: not yet"),
        arguments(
            (Runnable) ConsoleStreamTest::failWithError, "java.lang.NoClassDefFoundError: not yet"),
        arguments((Runnable) ConsoleStreamTest::failWithoutWords, Speechless.class.getName()),
        arguments((Runnable) ConsoleStreamTest::failWithoutText, "null"));
  }

  private static void failWithException() {
    throw new IllegalStateException("not yet");
  }

  private static void failWithError() {
    throw new NoClassDefFoundError("not yet");
  }

  private static void failWithoutWords() {
    throw new Speechless();
  }

  private static void failWithoutText() {
    throw new Textless();
  }

  private static final class Speechless extends RuntimeException {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw new IllegalStateException("not even that");
    }
  }

  private static final class Textless extends RuntimeException {
    private static final long serialVersionUID = 1;

    @Override
    @SuppressWarnings({
      "NullAway",
      "OverrideThrowableToString",
      "ToStringReturnsNull"
    }) // on purpose
    public String toString() {
      return null;
    }
  }
}
