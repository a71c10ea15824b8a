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

/** Where {@code belfry signal} sends to, without sending. */
class SendSignalTest {
  @TempDir private Path directory = Path.of("");

  /** What would have been sent: the process and the signal. */
  private final List<List<Object>> sent = new ArrayList<>();

  private CommandRun signal(String target) {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    tap.script(
        "kill",
        (_, arguments) -> {
          sent.add(Arrays.asList(arguments));
          return OptionalLong.of(0); // instead of the real call
        });
    return CommandRun.with(tap.sys(), "signal", target, "CONT");
  }

  @Test
  void aProcessIdIsTheProcess() {
    assertThat(signal("2147483647")).isEqualTo(new CommandRun(0, "", ""));
    assertThat(sent).containsExactly(List.of(Integer.MAX_VALUE, Signo.CONT));
  }

  /**
   * Regression: from 2^31 on they became negative: to the kernel a group, or with -1 all. And zero
   * and numbers of eleven digits were taken for the names of hosts.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {"0", "00", "2147483648", "4294967295", "4294967296", "9999999999", "99999999999"})
  void aNumberThatNoProcessCanHaveIsNone(String target) {
    assertThat(signal(target))
        .isEqualTo(
            new CommandRun(1, "", "belfry signal: " + target + " is not a possible process id\n"));
    assertThat(sent).isEmpty();
  }

  /** Regression: they printed a stack trace. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://my_host:7071",
        "http://:7071",
        "http://a b",
        "http://a:70000",
        "http://", // used to be taken for the name of a host, as was the next
        "ftp://127.0.0.1:7071"
      })
  void anAddressThatNobodyCanHaveIsAWrongCommandLine(String target) throws IOException {
    CommandRun run = signal(target, Files.writeString(directory.resolve("token"), "good"));
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err().lines())
        .satisfiesExactly(
            line -> assertThat(line).startsWith("belfry signal: '" + target + "' is not "),
            line -> assertThat(line).startsWith("Try"));
  }

  /** Regression: the error message showed the content, perhaps of a wrong file. */
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

  /** Regression: they were accepted and had no effect. */
  @ParameterizedTest
  @ValueSource(strings = {"--reason", "--token-file"})
  void aProcessCannotBeToldMoreThanTheSignal(String option) {
    CommandRun run = CommandRun.of("signal", "2147483647", "CONT", option, "x");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .startsWith(
            "belfry signal: " + option + " is for the URL of an admin surface, not for a process.");
  }

  /** Regression: the message only named the system call and its error. */
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

  /** Regression: the message was only "Is a directory", or asked to name a token file. */
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

  /** Regression: the message was "nobody listens", as if the host only had to be started. */
  @Test
  void aMachineThatNobodyKnowsIsToldFromOneWhereNobodyListens() throws IOException {
    Path token = Files.writeString(directory.resolve("token"), "good");
    assertThat(signal("https://nowhere.invalid:7071", token).err())
        .isEqualTo(
            "belfry signal: cannot ask https://nowhere.invalid:7071: no machine is known by the"
                + " name nowhere.invalid\n");
  }

  /** Regression: it was read until memory ran out. */
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
