package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** To whom {@code belfry signal} sends, without sending. */
class SendSignalTest {
  @TempDir private Path directory = Path.of("");

  /** All that was to be sent: the process and the signal. */
  private final List<List<Object>> sent = new ArrayList<>();

  private CommandRun signal(String target) {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    tap.script(
        "kill",
        (_, arguments) -> {
          sent.add(Arrays.asList(arguments));
          return OptionalLong.of(0); // so it is never made
        });
    return CommandRun.with(tap.sys(), "signal", target, "CONT");
  }

  @Test
  void aProcessIdIsTheProcess() {
    assertThat(signal("2147483647")).isEqualTo(new CommandRun(0, "", ""));
    assertThat(sent).containsExactly(List.of(Integer.MAX_VALUE, Signo.CONT));
  }

  /** Above 2^31 they came out negative: for the kernel a group, or with -1 everybody. */
  @ParameterizedTest
  @ValueSource(strings = {"2147483648", "4294967295", "4294967296", "9999999999"})
  void aNumberThatNoProcessCanHaveIsNone(String target) {
    assertThat(signal(target))
        .isEqualTo(new CommandRun(1, "", "belfry signal: there is no process " + target + "\n"));
    assertThat(sent).isEmpty();
  }

  /** They ended in a stack trace. */
  @ParameterizedTest
  @ValueSource(strings = {"http://my_host:7071", "http://:7071", "http://a b", "http://a:70000"})
  void anAddressThatNobodyCanHaveIsAWrongCommandLine(String target) throws IOException {
    CommandRun run = signal(target, Files.writeString(directory.resolve("token"), "good"));
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err().lines())
        .satisfiesExactly(
            line -> assertThat(line).startsWith("belfry signal: '" + target + "' is not "),
            line -> assertThat(line).startsWith("Try"));
  }

  /** The error message, and the stack trace with it, had all of it: the wrong file, perhaps. */
  @ParameterizedTest
  @ValueSource(strings = {"key\nof somebody", "schlüssel", "", "key\u0001"})
  void whatIsNoTokenIsNotSentAndNotShown(String text) throws IOException {
    Path file = Files.writeString(directory.resolve("token"), text);
    CommandRun run = signal("http://127.0.0.1:1", file);
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .startsWith("belfry signal: " + file)
        .doesNotContain("key", "schl", "\tat ");
  }

  /** They were taken, and nobody heard of them. */
  @ParameterizedTest
  @ValueSource(strings = {"--reason", "--token-file"})
  void aProcessCannotBeToldMoreThanTheSignal(String option) {
    CommandRun run = CommandRun.of("signal", "2147483647", "CONT", option, "x");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .startsWith(
            "belfry signal: " + option + " is for the URL of an admin surface, not for a process.");
  }

  /** The name of the system call and of its error was all that was said. */
  @Test
  void aProcessOfSomebodyElseIsToldInWords() {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    tap.script("kill", (_, _) -> OptionalLong.of(-Errno.EPERM));
    assertThat(CommandRun.with(tap.sys(), "signal", "4711", "TERM"))
        .isEqualTo(
            new CommandRun(
                1,
                "",
                "belfry signal: process 4711 belongs to another user, who has to do this\n"));
  }

  /** A directory was only "Is a directory", and who had named a file was asked to name one. */
  @Test
  void aTokenFileThatCannotBeReadIsNamed() {
    assertThat(signal("http://127.0.0.1:1", directory).err())
        .isEqualTo("belfry signal: cannot read the token in " + directory + ": Is a directory\n");
    Path missing = directory.resolve("missing");
    assertThat(signal("http://127.0.0.1:1", missing).err())
        .isEqualTo(
            "belfry signal: cannot read the token in %s: there is no file %s\n"
                .formatted(missing, missing));
  }

  /** It was "nobody listens", as if only the host had to be started. */
  @Test
  void aMachineThatNobodyKnowsIsToldFromOneWhereNobodyListens() throws IOException {
    Path token = Files.writeString(directory.resolve("token"), "good");
    assertThat(signal("https://nowhere.invalid:7071", token).err())
        .isEqualTo(
            "belfry signal: cannot ask https://nowhere.invalid:7071: no machine is known by the"
                + " name nowhere.invalid\n");
  }

  /** It was read until there was no memory left. */
  @Test
  void aTokenFileWithoutAnEndIsNotReadToItsEnd() {
    CommandRun run = signal("http://127.0.0.1:1", Path.of("/dev/zero"));
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith("belfry signal: /dev/zero is too long for a token");
  }

  private static CommandRun signal(String target, Path token) {
    return CommandRun.of("signal", target, "CONT", "--token-file", token.toString());
  }
}
