package dev.belfry.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The calls of hot paths allocate nothing once compiled, whether they succeed or fail.
 *
 * <p>The compiler must see through a whole call to eliminate the small objects of the
 * foreign-function API. On a machine that is busy while a method warms up, HotSpot may compile it
 * with a poor profile, inline less and leave 40 bytes a call. So this test uses a JVM that takes
 * the time for a full profile.
 */
final class NoAllocationTest {
  private static final double ALMOST_NOTHING = 0.1;

  @ParameterizedTest
  @ValueSource(strings = {"one", "any"})
  void aHotCallAllocatesNothing(String threads) throws Exception {
    List<String> command =
        TestProcess.javaCommand(HotCalls.class, threads).stream()
            .map(option -> option.startsWith("-XX:Tiered") ? "-XX:-TieredCompilation" : option)
            .collect(Collectors.toList());
    command.add(1, "-Xbatch");
    try (TestProcess calls = TestProcess.start(command)) {
      List<String> lines = calls.rest();

      assertThat(calls.exitCode()).as("%s", lines).isZero();
      assertThat(lines).hasSize(HotCalls.CALLS_TO_MAKE.size());
      assertThat(lines)
          .allSatisfy(
              line ->
                  assertThat(Double.parseDouble(line.substring(line.indexOf(' '))))
                      .as(line)
                      .isLessThan(ALMOST_NOTHING));
    }
  }
}
