package dev.belfry.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each example does what it says, in a process of its own. */
// r[verify loop.test.examples]
@NullMarked
final class ExamplesTest {
  @Test
  void tcpEchoSendsBackWhatItGets() throws Exception {
    try (TestProcess server = TestProcess.java(TcpEcho.class);
        Line first = Line.to(server);
        Line second = Line.to(port(first))) {
      first.say("one");
      second.say("two");
      assertThat(first.hear()).isEqualTo("one");
      assertThat(second.hear()).isEqualTo("two");
    }
  }

  @Test
  void tcpProxyPassesTheEndOfWhatIsSaidAndStillTheAnswer() throws Exception {
    try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        TestProcess proxy = proxyTo(listener, Duration.ofMinutes(1));
        Line client = Line.to(proxy);
        Socket server = listener.accept()) {
      client.say("that is all");
      client.sayNoMore();
      assertThat(server.getInputStream().readAllBytes()).asString().isEqualTo("that is all\n");
      server.getOutputStream().write("thank you\n".getBytes(StandardCharsets.UTF_8));
      server.shutdownOutput();
      assertThat(client.hear()).isEqualTo("thank you");
      assertThat(client.hearsTheEnd()).isTrue();
    }
  }

  @Test
  void tcpProxyEndsWhatTakesTooLong() throws Exception {
    try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        TestProcess proxy = proxyTo(listener, Duration.ofMillis(500));
        Line client = Line.to(proxy);
        Socket server = listener.accept()) {
      client.say("anybody there?");
      assertThat(client.hearsTheEnd()).isTrue();
      assertThat(server.getInputStream().readAllBytes()).asString().isEqualTo("anybody there?\n");
    }
  }

  private static TestProcess proxyTo(ServerSocket listener, Duration limit) throws IOException {
    return TestProcess.java(
        TcpProxy.class, "" + listener.getLocalPort(), String.valueOf(limit.toMillis()));
  }

  @Test
  void stdinEchoCopiesToTheEnd() throws Exception {
    try (TestProcess echo = TestProcess.java(StdinEcho.class)) {
      echo.say("first");
      assertThat(echo.line()).isEqualTo("first");
      echo.say("second");
      echo.endInput();
      assertThat(echo.rest()).containsExactly("second");
      assertThat(echo.exitCode()).isZero();
    }
  }

  @Test
  void shoutIsDoneInAnotherProcess() throws Exception {
    try (TestProcess shout = TestProcess.java(Shout.class)) {
      assertThat(shout.line()).isEqualTo("IS ANYBODY THERE?");
      assertThat(shout.exitCode()).isZero();
    }
  }

  @Test
  void wordsAreCountedInAnotherProcess() throws Exception {
    try (TestProcess count = TestProcess.java(WordCount.class)) {
      assertThat(count.line()).isEqualTo("6 words");
      assertThat(count.exitCode()).isZero();
    }
  }

  @Test
  void shoutingWorksOverHttpToo() throws Exception {
    try (TestProcess shout = TestProcess.java(ShoutOverHttp.class)) {
      assertThat(shout.line("IS ANYBODY")).isEqualTo(" THERE?");
      assertThat(shout.exitCode()).isZero();
    }
  }

  @Test
  void copyFileCopiesEveryByte(@TempDir Path directory) throws Exception {
    Path from = directory.resolve("from");
    Path to = directory.resolve("to");
    var bytes = new byte[1_000_003];
    new Random(7).nextBytes(bytes);
    Files.write(from, bytes);
    try (TestProcess copy = TestProcess.java(CopyFile.class, from.toString(), to.toString())) {
      assertThat(copy.line()).isEqualTo("copied 1000003 bytes");
      assertThat(copy.exitCode()).isZero();
    }
    assertThat(Files.readAllBytes(to)).isEqualTo(bytes);
  }

  @Test
  void copyFileSaysWhichFileIsMissing(@TempDir Path directory) throws Exception {
    Path missing = directory.resolve("missing");
    try (TestProcess copy = TestProcess.java(CopyFile.class, missing.toString(), "unused")) {
      assertThat(copy.line()).contains(missing.toString()).contains("ENOENT");
      copy.exitCode();
    }
  }

  /** Used to report the bytes it had copied, as if that had been all. */
  @Test
  void copyFileSaysThatThereIsNoRoom(@TempDir Path directory) throws Exception {
    Path from = Files.write(directory.resolve("from"), new byte[1000]);
    try (TestProcess copy = TestProcess.java(CopyFile.class, from.toString(), "/dev/full")) {
      assertThat(copy.rest()).anyMatch(line -> line.contains("ENOSPC"));
      assertThat(copy.exitCode()).isEqualTo(1);
    }
  }

  @Test
  void chatPassesMessagesOnKicksAndCloses() throws Exception {
    try (TestProcess server = TestProcess.java(Chat.class);
        Line ann = Line.to(server)) {
      assertThat(ann.hear()).isEqualTo("you are guest1"); // or bob might be accepted first
      try (Line bob = Line.to(port(ann))) {
        assertThat(bob.hear()).isEqualTo("you are guest2");
        ann.say("hello");
        assertThat(bob.hear()).isEqualTo("guest1: hello");
        ann.say("/kick guest2");
        assertThat(bob.hearsTheEnd()).isTrue();
      }
      ann.say("/close");
      assertThat(ann.hearsTheEnd()).isTrue();
      assertThat(server.exitCode()).isZero();
    }
  }

  /** A client that was writing to the leaving one used to be thrown out too. */
  @Test
  void chatGoesOnWhenSomebodyLeavesInTheMiddleOfAMessage() throws Exception {
    try (TestProcess server = TestProcess.java(Chat.class);
        Line ann = Line.to(server);
        var speaking = Executors.newSingleThreadExecutor()) {
      assertThat(ann.hear()).isEqualTo("you are guest1");
      var said = new AtomicInteger();
      Future<?> all;
      try (Line bob = Line.to(port(ann))) {
        assertThat(bob.hear()).isEqualTo("you are guest2");
        all = speaking.submit(() -> speakAtLength(ann, said));
        int before;
        do {
          before = said.get();
          Thread.sleep(500); // intended: ann must stall, because bob does not read
        } while (said.get() != before);
      }
      all.get();
      try (Line carl = Line.to(port(ann))) {
        assertThat(carl.hear()).isEqualTo("you are guest3");
        carl.say("/close");
        assertThat(server.exitCode()).isZero();
      }
    }
  }

  /** Writes more than fits into the buffers of a client that does not read. */
  private static boolean speakAtLength(Line speaker, AtomicInteger said) throws IOException {
    for (int i = 0; i < 10_000; i++) {
      speaker.say("and so on ".repeat(400));
      said.incrementAndGet();
    }
    return true;
  }

  @Test
  void aServiceReloadsOnHupAndEndsOnTerm() throws Exception {
    try (TestProcess service = TestProcess.java(ReloadAndEnd.class)) {
      assertThat(service.line()).isEqualTo("process " + service.pid() + " is up");
      for (int i = 0; i < 2; i++) {
        Processes.kill(Sys.forAnyThread(), service.pid(), Signo.HUP);
        assertThat(service.line())
            .isEqualTo("reloading, as process " + ProcessHandle.current().pid() + " wants");
      }
      Processes.kill(Sys.forAnyThread(), service.pid(), Signo.TERM);
      assertThat(service.line()).isEqualTo("ending on SIGTERM");
      assertThat(service.exitCode()).isZero();
    }
  }

  @Test
  void childrenAreRunAtOnceAndTheirEndsAreTold() throws Exception {
    try (TestProcess parent = TestProcess.java(RunChildren.class, "exit 3", "kill -9 $$", "true")) {
      assertThat(parent.rest()).containsExactly("exit 3: 3", "kill -9 $$: 137", "true: 0");
      assertThat(parent.exitCode()).isZero();
    }
  }

  private static int port(Line line) {
    return line.socket.getPort();
  }

  /** A client that reads and writes lines. */
  private record Line(Socket socket, BufferedReader input) implements AutoCloseable {
    static Line to(TestProcess server) throws Exception {
      String address = server.line("listening at ");
      return to(Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
    }

    static Line to(int port) throws IOException {
      var socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setSoTimeout((int) TestProcess.PATIENCE.toMillis());
      return new Line(
          socket,
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8)));
    }

    void say(String text) throws IOException {
      socket.getOutputStream().write((text + "\n").getBytes(StandardCharsets.UTF_8));
    }

    void sayNoMore() throws IOException {
      socket.shutdownOutput();
    }

    String hear() throws IOException {
      String line = input.readLine();
      return line != null ? line : "the end";
    }

    boolean hearsTheEnd() throws IOException {
      return input.readLine() == null;
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
