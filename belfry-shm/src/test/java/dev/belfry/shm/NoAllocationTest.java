package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.TestProcess;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Once compiled, sending, receiving and waiting allocate nothing. Measured in a JVM that takes the
 * time for a full profile, because on a busy machine another might inline less.
 */
final class NoAllocationTest {
  private static final double ALMOST_NOTHING = 0.1;

  @ParameterizedTest
  @EnumSource
  void aMessageAllocatesNothing(Placement placement) throws Exception {
    List<String> command =
        TestProcess.javaCommand(HotMessages.class, placement.name()).stream()
            .map(option -> option.startsWith("-XX:Tiered") ? "-XX:-TieredCompilation" : option)
            .collect(Collectors.toList());
    command.add(1, "-Xbatch");
    try (TestProcess messages = TestProcess.start(command)) {
      List<String> lines = messages.rest();
      assertThat(messages.exitCode()).as("%s", lines).isZero();
      assertThat(lines).hasSize(5);
      assertThat(lines)
          .allSatisfy(
              line ->
                  assertThat(Double.parseDouble(line.substring(line.indexOf(' '))))
                      .as(line)
                      .isLessThan(ALMOST_NOTHING));
    }
  }
}
