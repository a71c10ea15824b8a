package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Signo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class EndingSignalsIT {
  @TempDir private static Path directory;
  private static Installation installation = new Installation(Path.of(""));

  /** The two ways to start a JVM with its signals blocked. */
  enum Way {
    LAUNCHER {
      @Override
      Program.Start of(String sample) {
        return Program.of(installation.launcher(), sample);
      }
    },
    RELAUNCH {
      @Override
      Program.Start of(String sample) {
        return Program.of(
            Path.of(System.getProperty("java.home"), "bin/java"),
            "-jar",
            installation.jar().toString(),
            sample);
      }
    };

    abstract Program.Start of(String sample);
  }

  @BeforeAll
  static void install() throws IOException {
    installation = Installation.withJar(directory.resolve("installed"));
  }

  static Stream<Arguments> waysAndStates() {
    return Stream.of(Way.values())
        .flatMap(
            way ->
                Stream.of("parked", "busy", "in-native-code")
                    .map(sample -> Arguments.of(way, sample)));
  }

  @ParameterizedTest
  @MethodSource("waysAndStates")
  void interruptEndsTheProgramWhateverItDoes(Way way, String sample) throws Exception {
    try (Program program = way.of(sample).start()) {
      program.awaitLine("ready");
      program.signal(Signo.INT);

      assertThat(program.end()).isEqualTo(new Program.Result(130, "", ""));
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void termAndHangUpEndItWithTheirOwnCodes(Way way) throws Exception {
    for (int signal : new int[] {Signo.TERM, Signo.HUP}) {
      try (Program program = way.of("busy").start()) {
        program.awaitLine("ready");
        program.signal(signal);

        assertThat(program.end()).isEqualTo(new Program.Result(128 + signal, "", ""));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("waysAndStates")
  void quitPrintsWhereTheThreadsAre(Way way, String sample) throws Exception {
    try (Program program = way.of(sample).start()) {
      program.awaitLine("ready");
      program.signal(Signo.QUIT);

      Program.Result result = program.end();
      assertThat(result.exitCode()).isEqualTo(131);
      assertThat(result.out()).isEmpty();
      assertThat(result.err()).contains("\"main\"", "dev.belfry.cli.SampleProgram.main");
    }
  }

  @Test
  void quitPrintsVirtualThreadsToo() throws Exception {
    try (Program program = Way.LAUNCHER.of("coroutine").start()) {
      program.awaitLine("ready");
      program.signal(Signo.QUIT);

      assertThat(program.end().err()).contains("\"coroutine\" virtual", "SampleProgram.park");
    }
  }

  @Test
  void quitPrintsWhereTheThreadsAreAlsoWithoutATemporaryDirectory() throws Exception {
    try (Program program =
        Way.LAUNCHER
            .of("parked")
            .with("BELFRY_JAVA_OPTS", "-Djava.io.tmpdir=" + directory.resolve("missing"))
            .start()) {
      program.awaitLine("ready");
      program.signal(Signo.QUIT);

      Program.Result result = program.end();
      assertThat(result.exitCode()).isEqualTo(131);
      assertThat(result.err()).contains("\"main\"", "dev.belfry.cli.SampleProgram.main");
    }
  }

  /** Regression: the temporary file of the dump was left behind. */
  @Test
  void quitEndsItAlsoWhenStandardErrorIsStuck() throws Exception {
    Path temporary = Files.createDirectory(directory.resolve("temporary"));
    try (Program program =
        Way.LAUNCHER
            .of("stuck-err")
            .with("BELFRY_JAVA_OPTS", "-Djava.io.tmpdir=" + temporary)
            .startWithStuckErr()) {
      program.awaitLine("ready");
      program.signal(Signo.QUIT);

      assertThat(program.end().exitCode()).isEqualTo(131);
      assertThat(temporary).isEmptyDirectory();
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void theProcessIsTheOneThatWasStarted(Way way) throws Exception {
    try (Program program = way.of("parked").start()) {
      assertThat(program.awaitLine("ready")).isEqualTo("ready " + program.pid());
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void secondInterruptDuringAHangingHookEndsItAtOnce(Way way) throws Exception {
    try (Program program = way.of("hanging-hook").start()) {
      program.awaitLine("ready");
      program.signal(Signo.TERM);
      program.awaitLine("hook");

      Program.Result result = program.signalUntilTheEnd(Signo.INT);
      assertThat(result.exitCode()).isEqualTo(130);
      assertThat(result.out()).isEmpty();
    }
  }

  @Test
  void quitDuringAHangingHookTellsWhereItHangs() throws Exception {
    try (Program program = Way.LAUNCHER.of("hanging-hook").start()) {
      program.awaitLine("ready");
      program.signal(Signo.INT);
      program.awaitLine("hook");
      program.signal(Signo.QUIT);

      Program.Result result = program.end();
      assertThat(result.exitCode()).isEqualTo(131);
      assertThat(result.err()).contains("SampleProgram.park");
    }
  }

  @Test
  void signalsThatComeTogetherAreOneRequest() throws Exception {
    // As timeout(1) sends them; taken for two requests, they would cut every shutdown short.
    try (Program program = Way.LAUNCHER.of("patient-hook").start()) {
      program.awaitLine("ready");
      program.signal(Signo.INT);
      program.signal(Signo.TERM);
      program.awaitLine("hook");
      program.say("go on");

      assertThat(program.end()).isEqualTo(new Program.Result(130, "hook done", ""));
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void signalThatComesBeforeTheWatchIsNotLost(Way way) throws Exception {
    try (Program program = way.of("late").start()) {
      program.awaitLine("ready");
      program.signal(Signo.TERM);
      program.say("now watch");

      assertThat(program.end()).isEqualTo(new Program.Result(143, "", ""));
    }
  }

  @Test
  void aServiceTakesASignalOverAndGivesItBack() throws Exception {
    try (Program program = Way.LAUNCHER.of("claim").start()) {
      program.awaitLine("ready");
      program.signal(Signo.TERM);
      program.say("read it");
      assertThat(program.awaitLine("took")).isEqualTo("took SIGTERM of {SIGTERM}");
      program.awaitLine("given back");
      program.signal(Signo.TERM);

      assertThat(program.end().exitCode()).isEqualTo(143);
    }
  }

  @Test
  void aServiceLeavesTheSignalsItDoesNotTake() throws Exception {
    try (Program program = Way.LAUNCHER.of("claim").start()) {
      program.awaitLine("ready");
      program.signal(Signo.INT);

      assertThat(program.end().exitCode()).isEqualTo(130);
    }
  }

  @Test
  void interruptEndsAProgramWhoseOutputNobodyReads() throws Exception {
    try (Program program = Way.LAUNCHER.of("closed-out").start()) {
      program.awaitLine("ready");
      program.closeOut();
      program.say("write");
      program.signal(Signo.INT);

      assertThat(program.exitCode()).isEqualTo(130);
    }
  }

  @Test
  void hangUpStaysIgnoredUnderNohup() throws Exception {
    try (Program program =
        Program.of("nohup", installation.launcher().toString(), "parked").start()) {
      program.awaitLine("ready");
      program.signal(Signo.HUP);
      program.signal(Signo.TERM); // if HUP had an effect, it would come first

      assertThat(program.end().exitCode()).isEqualTo(143);
    }
  }
}
