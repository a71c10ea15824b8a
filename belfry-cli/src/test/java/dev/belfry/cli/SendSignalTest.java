package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** To whom {@code belfry signal} sends, without sending. */
class SendSignalTest {
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
}
