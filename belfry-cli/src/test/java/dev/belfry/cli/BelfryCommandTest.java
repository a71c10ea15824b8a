package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BelfryCommandTest {
  @Test
  void helpNamesEveryCommand() {
    CommandRun run = CommandRun.of("--help");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).contains("Usage: belfry", "doctor", "help");
    assertThat(run.err()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"doctor", "shm", "shm stat"})
  void helpOfACommandIsTheSameBothWays(String command) {
    CommandRun run = CommandRun.of(("help " + command).split(" "));

    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .contains("Usage: belfry " + command)
        .isEqualTo(CommandRun.of((command + " --help").split(" ")).out());
  }

  /** Setting up the first system call takes longer than these commands. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "--version",
        "--help",
        "help top",
        "run --help",
        "completion",
        "signals resolve 1"
      })
  void noSystemCallsAreSetUpForWhatMakesNone(String arguments) {
    var out = new PrintWriter(new StringWriter());
    Supplier<Sys> unused =
        () -> {
          throw new AssertionError("is asked for system calls");
        };

    assertThat(
            BelfryCommand.execute(
                unused, OutputStream.nullOutputStream(), out, out, arguments.split(" ")))
        .isZero();
  }

  @Test
  void everyCommandTellsItsExitCodes() {
    List<String> commands = commands("");
    assertThat(commands).contains("doctor", "top", "shm stat", "shm ping", "signals watch");
    assertThat(commands)
        .allSatisfy(
            command ->
                assertThat(CommandRun.of((command + " --help").split(" ")).out())
                    .as(command)
                    .contains("Exit codes:"));
  }

  /** Regression: nine commands had the option in their help, and printed nothing. */
  @Test
  void everyCommandTellsTheVersion() {
    assertThat(Stream.concat(commands("").stream(), Stream.of("shm", "signals", "completion")))
        .allSatisfy(
            command ->
                assertThat(CommandRun.of((command + " --version").split(" ")).out())
                    .as(command)
                    .startsWith("belfry "));
  }

  /** The list shows only the first line of a command's description. */
  @ParameterizedTest
  @ValueSource(strings = {"--help", "shm --help", "signals --help"})
  void whatAListSaysOfACommandIsAWholeSentence(String arguments) {
    String help = CommandRun.of(arguments.split(" ")).out();
    String list =
        help.lines()
            .dropWhile(line -> !line.equals("Commands:"))
            .takeWhile(line -> !line.isEmpty())
            .collect(Collectors.joining("\n"));
    assertThat(Pattern.compile("\n {2}(?=\\S)").splitAsStream(list).skip(1))
        .hasSizeGreaterThan(3)
        .allSatisfy(command -> assertThat(command).endsWith("."));
  }

  /** Returns the commands that the help lists, and their subcommands. */
  private static List<String> commands(String parent) {
    String help = CommandRun.of((parent + "--help").split(" ")).out();
    int list = help.indexOf("\nCommands:\n");
    return list < 0
        ? List.of()
        : help.substring(list + 1)
            .lines()
            .takeWhile(line -> !line.isEmpty()) // exit codes may follow
            .filter(line -> line.matches(" {2}\\S.*"))
            .map(line -> line.strip().replaceAll(" .*", ""))
            .filter(name -> !Set.of("help", "bench", "completion").contains(name))
            .flatMap(name -> children(parent + name))
            .toList();
  }

  private static Stream<String> children(String command) {
    List<String> below = commands(command + " ");
    return below.isEmpty() ? Stream.of(command) : below.stream();
  }

  @Test
  void versionNamesTheProgramAndJava() {
    CommandRun run = CommandRun.of("--version");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).startsWith("belfry ").contains("Java " + Runtime.version());
  }

  @Test
  void unknownCommandIsRefusedWithASuggestion() {
    CommandRun run = CommandRun.of("docter");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err())
        .isEqualToNormalizingNewlines(
            """
            belfry: Unknown command 'docter'.
            Did you mean: belfry doctor or belfry validate?
            Try 'belfry --help'.
            """);
  }

  @Test
  void badOptionIsRefusedByItsCommand() {
    CommandRun run = CommandRun.of("doctor", "--yaml");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err())
        .startsWith("belfry doctor: Unknown option: '--yaml'")
        .endsWith("Try 'belfry doctor --help'.\n");
  }

  /** Regression: a mistyped option was reported as a missing parameter. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "call --hlep",
        "signal --hlep",
        "signals resolve --hlep",
        "signals match --hlep",
        "signals check --hlep"
      })
  void optionThatDoesNotExistIsNamedBeforeWhatIsMissing(String typed) {
    CommandRun run = CommandRun.of(typed.split(" "));

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .startsWith("belfry " + typed.replace(" --hlep", ": Unknown option: '--hlep'\n"));
  }

  /** Regression: it was reported as an "unmatched argument at index 1". */
  @Test
  void superfluousArgumentOfACommandIsNotCalledACommand() {
    CommandRun run = CommandRun.of("doctor", "now");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith("belfry doctor: Too many arguments, from 'now' on.\n");
    assertThat(CommandRun.of("call", "upper", "is", "anybody", "there?").err())
        .startsWith(
            "belfry call: Too many arguments, from 'anybody' on; text with spaces goes into"
                + " quotes.\n");
  }

  /** Regression: the message was "is not a long", "an int" or "a double", in Java's words. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "call upper --deadline soon: 'soon' is not a whole number, or is too large",
        "call upper --deadline 99999999999999999999: '99999999999999999999' is not a whole number,"
            + " or is too large",
        "echo --port x: 'x' is not a whole number, or is too large",
        "top --interval often: 'often' is not a number"
      })
  void whatIsNoNumberIsToldInWords(String example) {
    String[] typedAndTold = example.split(": ", 2);
    CommandRun run = CommandRun.of(typedAndTold[0].split(" "));
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err().lines().findFirst().orElseThrow()).endsWith(typedAndTold[1]);
  }

  @Test
  void withoutACommandItSaysThatOneIsWanted() {
    CommandRun run = CommandRun.of();

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("belfry: Say which command to run.");
  }

  @Test
  void helpForAnUnknownCommandIsRefused() {
    CommandRun run = CommandRun.of("help", "docter");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).isEqualTo("belfry: Unknown command 'docter'.\nTry 'belfry --help'.\n");
  }

  @Test
  void helpForAnUnknownCommandBelowAnotherIsRefused() {
    CommandRun run = CommandRun.of("help", "shm", "pong");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .isEqualTo("belfry shm: Unknown command 'pong'.\nTry 'belfry shm --help'.\n");
  }

  /** Regression: an unexpected failure printed a stack trace. */
  @Test
  void whateverGoesWrongIsOneLine() {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    tap.script(
        "kill",
        (_, _) -> {
          throw new IllegalStateException("nobody thought of this");
        });
    assertThat(CommandRun.with(tap.sys(), "signal", "1", "CONT"))
        .isEqualTo(
            new CommandRun(
                1, "", "belfry signal: java.lang.IllegalStateException: nobody thought of this\n"));
  }
}
