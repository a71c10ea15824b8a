package dev.belfry.cli.top;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import dev.belfry.testkit.TestTerminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The command, with and without a terminal, beside a host with a real pool. */
@Timeout(120)
class TopTest {
  private static final String ENTER = "\033[?1049h";
  private static final String LEAVE = "\033[0m\033[?7h\033[?25h\033[?1049l";
  private static final String CTRL_C = "\003";
  private static final String CTRL_S = "\023";

  @TempDir private static Path shared;

  @SuppressWarnings("NullAway.Init")
  private static TestProcess watched;

  /**
   * The run directory: the shared host's, which most tests only read, unless a test has its own.
   */
  private Path runtime = shared;

  @BeforeAll
  static void startHost() throws IOException, InterruptedException {
    watched = host(shared, "demo");
  }

  @AfterAll
  static void endHost() {
    watched.close();
  }

  private static List<String> in(Path runtime, List<String> command, String... variables) {
    var all = new ArrayList<>(List.of("env", "XDG_RUNTIME_DIR=" + runtime));
    all.addAll(List.of(variables));
    all.addAll(command);
    return all;
  }

  private static TestProcess host(Path runtime, String name)
      throws IOException, InterruptedException {
    TestProcess host =
        TestProcess.start(in(runtime, TestProcess.javaCommand(BusyHost.class, name, "2")));
    host.line("ready");
    return host;
  }

  private static List<String> top(String... arguments) throws ReflectiveOperationException {
    var all = new ArrayList<>(List.of("top"));
    all.addAll(List.of(arguments));
    return TestProcess.javaCommand(
        Class.forName("dev.belfry.cli.Main"), all.toArray(String[]::new));
  }

  private TestTerminal terminal(int columns, int rows, String... variables) throws Exception {
    Map<String, String> environment =
        new HashMap<>(Map.of("TERM", "xterm", "LC_ALL", "C.UTF-8", "NO_COLOR", ""));
    for (String variable : variables) {
      String[] parts = variable.split("=", 2);
      environment.put(parts[0], parts[1]);
    }
    return TestTerminal.start(columns, rows, environment, in(runtime, top()));
  }

  private record Run(int exitCode, List<String> lines) {
    String text() {
      return String.join("\n", lines) + "\n";
    }
  }

  private Run run(String... arguments) throws Exception {
    try (TestProcess process = TestProcess.start(in(runtime, top(arguments), "LC_ALL=C.UTF-8"))) {
      process.endInput();
      List<String> lines = process.rest();
      return new Run(process.exitCode(), lines);
    }
  }

  private static void eventually(ThrowingRunnable assertion) {
    await().atMost(TestProcess.PATIENCE).untilAsserted(assertion);
  }

  private static void awaitShown(TestTerminal terminal, String text) {
    eventually(() -> assertThat(terminal.shown()).contains(text));
  }

  private static void assertGivenBack(TestTerminal terminal) {
    assertThat(terminal.shown()).contains(ENTER).contains(LEAVE);
    String after = terminal.shown().substring(terminal.shown().lastIndexOf(LEAVE));
    assertThat(after).as("after it was left").doesNotContain("\033[H");
  }

  @Test
  void itShowsAHostUntilQIsPressed() throws Exception {
    try (TestTerminal terminal = terminal(80, 24)) {
      awaitShown(terminal, "most "); // the second sample
      assertThat(terminal.shown())
          .contains(" demo  pid ", "calls/s", "p99", "circuit closed", "demo-1", "spare", "█")
          .doesNotContain("STALE");
      terminal.type("x");
      terminal.type("q");
      assertThat(terminal.exitCode()).isZero();
      assertGivenBack(terminal);
      assertThat(terminal.shown()).endsWith(LEAVE);
    }
  }

  @Test
  void ctrlCAndTermGiveTheTerminalBack() throws Exception {
    try (TestTerminal interrupted = terminal(80, 24);
        TestTerminal terminated = terminal(80, 24)) {
      awaitShown(interrupted, "demo-1");
      interrupted.type(CTRL_C);
      assertThat(interrupted.exitCode()).isEqualTo(130);
      assertGivenBack(interrupted);

      awaitShown(terminated, "demo-1");
      terminated.programs().forEach(ProcessHandle::destroy);
      assertThat(terminated.exitCode()).isEqualTo(143);
      assertGivenBack(terminated);
    }
  }

  /** Regression: it waited for the terminal, and only a second signal ended it. */
  @Test
  void termEndsItAlsoWhereTheTerminalTakesNoOutput() throws Exception {
    try (TestTerminal stopped = terminal(80, 24)) {
      awaitShown(stopped, "demo-1");
      stopped.type(CTRL_S);
      eventually(() -> assertThat(stopped.programs()).anyMatch(TopTest::isStuckInOutput));
      stopped.programs().forEach(ProcessHandle::destroy);
      assertThat(stopped.exitCode()).isEqualTo(143);
    }
  }

  /** Whether a thread of the process is blocked in {@code write} to standard output. */
  private static boolean isStuckInOutput(ProcessHandle process) {
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
      return threads.anyMatch(
          thread -> {
            try {
              return Files.readString(thread.resolve("syscall")).matches("(?s)(1|64) 0x1 .*");
            } catch (IOException ended) {
              return false;
            }
          });
    } catch (IOException ended) {
      return false;
    }
  }

  /** Regression: it left the terminal in the alternate screen, without cursor and echo. */
  @Test
  void quitGivesTheTerminalBackBeforeItSaysWhereTheThreadsAre() throws Exception {
    try (TestTerminal quit = terminal(80, 24)) {
      awaitShown(quit, "demo-1");
      for (ProcessHandle program : quit.programs()) {
        Processes.kill(Sys.forAnyThread(), (int) program.pid(), Signo.QUIT);
      }
      assertThat(quit.exitCode()).isEqualTo(131);
      assertGivenBack(quit);
      assertThat(quit.shown().substring(quit.shown().lastIndexOf(LEAVE))).contains("main");
    }
  }

  @Test
  void itSaysThatTheHostHasEnded(@TempDir Path own) throws Exception {
    runtime = own;
    try (TestProcess host = host(own, "demo");
        TestTerminal terminal = terminal(80, 24)) {
      awaitShown(terminal, "demo-1");
      host.kill();
      assertThat(terminal.exitCode()).isEqualTo(3);
      assertGivenBack(terminal);
      assertThat(terminal.shown().substring(terminal.shown().lastIndexOf(LEAVE)))
          .contains("demo (pid %d) has ended after ".formatted(host.pid()))
          .contains(" calls answered, 0 failed, 0 deaths\r\n");
    }
  }

  @Test
  void itFollowsTheSizeOfTheTerminal() throws Exception {
    try (TestTerminal terminal = terminal(80, 24)) {
      awaitShown(terminal, "demo-1");
      assertThat(terminal.shown()).doesNotContain("ANSWERED");
      terminal.forget();
      terminal.resize(200, 50);
      awaitShown(terminal, "ANSWERED");
      terminal.forget();
      awaitShown(terminal, "quits");
      String frame = terminal.shown();
      frame = frame.substring(frame.indexOf("\033[H"));
      frame = frame.substring(0, frame.indexOf("quits"));
      assertThat(frame.split("\n", -1)).hasSize(50);
    }
  }

  @Test
  void aHostThatStandsStillIsStaleAndLaterNoMore(@TempDir Path own) throws Exception {
    runtime = own;
    try (TestProcess host = host(own, "demo");
        TestTerminal terminal = terminal(80, 24)) {
      awaitShown(terminal, "demo-1");
      Processes.kill(Sys.forAnyThread(), host.pid(), Signo.STOP);
      try {
        awaitShown(terminal, "STALE for ");
        Run once = run("--once");
        assertThat(once.exitCode()).isEqualTo(4);
        assertThat(once.text()).contains("STALE for ");
      } finally {
        Processes.kill(Sys.forAnyThread(), host.pid(), Signo.CONT);
      }
      eventually(
          () -> {
            terminal.forget();
            TimeUnit.MILLISECONDS.sleep(1500);
            assertThat(terminal.shown()).contains("sampled ").doesNotContain("STALE");
          });
    }
  }

  @Test
  void outsideATerminalItIsTextOnce() throws Exception {
    Run run = run();
    assertThat(run.exitCode()).isZero();
    assertThat(run.text())
        .doesNotContain("\033")
        .contains(" demo  pid " + watched.pid(), "calls/s", "demo-1", "ready");
    assertThat(run.lines()).hasSize(12);

    assertThat(run("--once", "demo").exitCode()).isZero();
    assertThat(run("--once", Integer.toString(watched.pid())).exitCode()).isZero();
  }

  @Test
  void programsGetJson() throws Exception {
    eventually(
        () -> {
          JsonNode json = JsonMapper.shared().readTree(run("--json").text());
          assertThat(json.at("/pid").asInt()).isEqualTo(watched.pid());
          assertThat(json.at("/stale").asBoolean()).isFalse();
          assertThat(json.at("/callsPerSecond").asDouble()).isPositive();
          assertThat(json.at("/latencyNanos/p99").asLong()).isPositive();
          assertThat(json.at("/workers")).hasSize(3);
          assertThat(json.at("/workers/0/ringCapacity").asInt()).isEqualTo(255);
        });
  }

  @Test
  void coloursAreOnlyForTerminalsThatWantThem() throws Exception {
    try (TestTerminal coloured = terminal(80, 24);
        TestTerminal plain = terminal(80, 24, "NO_COLOR=1");
        TestTerminal ascii = terminal(80, 24, "LC_ALL=C")) {
      awaitShown(coloured, "\033[32mready");
      awaitShown(plain, "quits");
      assertThat(plain.shown()).contains("demo-1").doesNotContainPattern("\033\\[[0-9;]+m.*demo-1");
      awaitShown(ascii, "quits");
      assertThat(ascii.shown()).matches("\\p{ASCII}*");
    }
  }

  @Test
  void aTerminalThatCanDoNothingGetsText() throws Exception {
    try (TestTerminal dumb = terminal(80, 24, "TERM=dumb")) {
      assertThat(dumb.exitCode()).isZero();
      assertThat(dumb.shown()).contains("demo-1").doesNotContain("\033");
    }
  }

  @Test
  void whatCannotBeShownIsSaid(@TempDir Path empty) throws Exception {
    try (TestProcess _ = host(shared, "two")) {
      Run several = run("--once");
      assertThat(several.exitCode()).isEqualTo(1);
      assertThat(several.text())
          .startsWith(
              "belfry top: several hosts are running, say which by name or pid: demo (pid ");
      assertThat(run("--once", "two").text()).contains(" two  pid ");
      assertThat(run("--once", "three").exitCode()).isEqualTo(1);
    }

    assertThat(run("--interval", "0").exitCode()).isEqualTo(2);
    assertThat(run("--interval", "NaN").exitCode()).isEqualTo(2);

    runtime = empty;
    Run none = run();
    assertThat(none.exitCode()).isEqualTo(1);
    assertThat(none.text()).startsWith("belfry top: no host is running");
  }
}
