package dev.belfry.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Processes;
import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Signals in JVMs of their own, never in the one that runs the tests. */
final class SignalLaunchTest {
  private static final Sys SYS = Sys.forAnyThread();

  @TempDir static Path directory;
  private static String probe;

  @BeforeAll
  static void compile() throws Exception {
    probe = CProgram.compile(directory, SignalLaunchTest.class, "probe").toString();
  }

  /** Starts the program through a piece of shell script that ends with {@code "$@"}. */
  private static TestProcess start(String script) throws Exception {
    var command = new ArrayList<>(List.of("sh", "-c", script, "sh"));
    command.addAll(TestProcess.javaCommand(SignalProgram.class, probe));
    return TestProcess.start(command);
  }

  private static void assertRelaunched(TestProcess program) throws Exception {
    assertThat(program.line("main ")).isEqualTo(program.pid() + " false");
    assertThat(program.line("main ")).isEqualTo(program.pid() + " true");
    assertThat(program.line("gaps ")).isEqualTo("[]");
  }

  private static String hex(String text) {
    return HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void itStartsAgainWithTheSameIdArgumentsAndStreams() throws Exception {
    // The last argument is not valid text in any encoding.
    String script = "exec \"$@\" '' \"$(printf 'gr\\303\\274n')\" 'x y' \"$(printf '\\377')\"";
    try (TestProcess program = start(script)) {
      program.say("kept");
      assertRelaunched(program);
      assertThat(program.line("command "))
          .startsWith(hex(TestProcess.javaCommand(SignalProgram.class).getFirst() + "\0-Xrs\0"))
          .endsWith(hex("\0" + probe + "\0\0grün\0x y\0") + "ff00");
      assertThat(program.line("mask ")).isEqualTo(SignalLaunch.SIGNALS.toString());
      assertThat(program.line("variable BELFRY_RELAUNCHED "))
          .isEqualTo(Integer.toString(program.pid()));
      assertThat(program.line("variable _JAVA_SR_SIGNUM ")).isEqualTo("64");
      assertThat(program.line()).isEqualTo("error stream");
      assertThat(program.line("echo ")).isEqualTo("kept");

      program.line("fd "); // from here on its child prints
      String blocked = program.line("SigBlk:");
      assertThat(blocked.strip()).isEqualTo("0000000000000000");
      List<String> ofChild = new ArrayList<>();
      for (String line = program.line(); !line.equals("end"); line = program.line()) {
        ofChild.add(line);
      }
      assertThat(ofChild)
          .anyMatch(line -> line.startsWith("variable PATH="))
          .noneMatch(line -> line.contains("BELFRY_RELAUNCHED"))
          .noneMatch(line -> line.contains("_JAVA_SR_SIGNUM"));
    }
  }

  @Test
  void whatWasInTheEnvironmentBeforeDoesNotGetInTheWay() throws Exception {
    // As if inherited from a relaunched JVM, by a process with another id.
    String script = "export BELFRY_RELAUNCHED=1 _JAVA_SR_SIGNUM=40; exec \"$@\"";
    try (TestProcess program = start(script)) {
      assertRelaunched(program);
      assertThat(program.line("variable BELFRY_RELAUNCHED "))
          .isEqualTo(Integer.toString(program.pid()));
      assertThat(program.line("variable _JAVA_SR_SIGNUM ")).isEqualTo("64");
    }
  }

  @Test
  void whatAShellMadeItsBackgroundJobIgnoreIsNotIgnoredAfterwards() throws Exception {
    try (TestProcess program = start("trap '' INT QUIT HUP; exec \"$@\"")) {
      assertRelaunched(program);
      assertThat(program.line("ignored "))
          .doesNotContain("SIGINT", "SIGQUIT")
          .as("who ignores HUP by nohup wants it so")
          .contains("SIGHUP");
    }
  }

  // It used to go on without the JVM's handlers: Ctrl+C then ended it without its shutdown hooks.
  @Test
  void aProgramThatCannotStartAgainKeepsItsSignals() throws Exception {
    var command = new ArrayList<>(List.of("env", "--default-signal")); // the build may ignore some
    command.addAll(TestProcess.javaCommand(RefusedLaunch.class));
    try (TestProcess program = TestProcess.start(command)) {
      assertThat(program.line("refused ")).isEqualTo("E2BIG");
      assertThat(program.line("caught ")).contains("SIGINT", "SIGQUIT");
    }
  }

  /**
   * The locale decides how Java decodes the bytes; what it passes on must be the bytes themselves.
   */
  @Test
  void variablesGoToChildrenByteForByte() throws Exception {
    String script = "export LC_ALL=C; GREEN=$(printf 'gr\\303\\274n') exec \"$@\"";
    try (TestProcess program = start(script)) {
      program.say("on");
      assertThat(program.line("variable GREEN=")).isEqualTo("grün");
    }
  }

  @Test
  void signalsAreReadWithAllThatTheKernelKnows() throws Exception {
    try (TestProcess program = start("exec \"$@\"")) {
      program.say("on");
      assertThat(program.line("non-blocking ")).isEqualTo("false true");
      assertThat(program.line("close-on-exec ")).isEqualTo("true true");
      assertThat(program.line("waiting ")).as("its child").isEqualTo("SIGCHLD status 0");
      assertThat(program.line()).isEqualTo("ready");
      int pid = program.pid();
      String sender = " from " + ProcessHandle.current().pid() + " user " + uid();

      Processes.kill(SYS, pid, Signo.USR1);
      assertThat(program.line()).isEqualTo("got SIGUSR1 code 0" + sender + " value 0 errno 0");
      for (int value : new int[] {1, 2, -1}) {
        Processes.queue(SYS, pid, 40, value);
      }
      String queued = "got SIGRTMIN+6 code -1" + sender + " value ";
      assertThat(program.line()).isEqualTo(queued + "1 errno 0");
      assertThat(program.line()).isEqualTo(queued + "2 errno 0");
      assertThat(program.line()).isEqualTo(queued + "4294967295 errno 0");

      Processes.kill(SYS, pid, Signo.USR2); // not yet among those it reads
      Processes.kill(SYS, pid, Signo.ALRM);
      assertThat(program.line()).startsWith("got SIGALRM");
      assertThat(program.line()).isEqualTo("updated");
      assertThat(program.line()).startsWith("got SIGUSR2");
      Processes.kill(SYS, pid, Signo.HUP); // no longer among them
      Processes.kill(SYS, pid, Signo.TERM);
      assertThat(program.line()).startsWith("got SIGTERM");
      program.say("last");
      assertThat(program.line()).isEqualTo("input last");
      assertThat(program.exitCode()).isZero();
    }
  }

  @Test
  void whereItCannotStartAgainAllIsAsItWas() throws Exception {
    try (TestProcess program = TestProcess.java(FailedRelaunch.class)) {
      assertThat(program.rest()).containsExactly("execve ENOMEM", "calls 2", "same mask true");
      assertThat(program.exitCode()).isZero();
    }
  }

  private static String uid() throws Exception {
    return Files.getAttribute(Path.of("/proc/self"), "unix:uid").toString();
  }
}
