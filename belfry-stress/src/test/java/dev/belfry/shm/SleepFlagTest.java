package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.TestProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Runs the sleep flag races; forbidden outcomes must never occur. */
final class SleepFlagTest {
  @TempDir private Path directory;

  // r[verify shm.placement.padded]
  @Test
  @EnabledIfSystemProperty(named = "belfry.stress", matches = "true")
  void nobodySleepsUnwoken() throws Exception {
    // jcstress writes its results to the working directory, whatever its options say.
    var command = new ArrayList<>(List.of("env", "--chdir=" + directory));
    command.addAll(
        TestProcess.javaCommand(
            org.openjdk.jcstress.Main.class,
            "-t",
            "SleeperStress",
            "-m",
            "quick",
            "-jvmArgs",
            "--enable-native-access=ALL-UNNAMED",
            "-strideSize",
            String.valueOf(StressRing.RINGS / 2),
            "-strideCount",
            "1"));
    command.removeIf(option -> option.startsWith("-XX:TieredStop")); // the best compiler races best
    try (TestProcess races = TestProcess.start(command)) {
      List<String> lines = races.rest();
      assertThat(races.exitCode()).as("%s", lines).isZero();
      assertThat(lines)
          .contains("  Failed tests: No matches.", "  Error tests: No matches.")
          .anyMatch(line -> line.startsWith("  All remaining tests: 2 matching"));
    }
  }
}
