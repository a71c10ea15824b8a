package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The packaged ping starts the packaged echo, both by the launcher. */
class ShmPingIT {
  private static final Path BELFRY = Installation.PROJECT.resolve("belfry");

  @TempDir private Path directory = Path.of("");

  @ParameterizedTest
  @ValueSource(strings = {"v1", "padded"})
  void everythingComesBack(String placement) throws Exception {
    Program.Result result =
        Program.of(
                BELFRY,
                "shm",
                "ping",
                "--placement",
                placement,
                "--count",
                "2000",
                "--",
                BELFRY.toString(),
                "shm",
                "echo")
            .with("LC_ALL", "C") // has no Greek letters: the unit was a question mark
            .run();

    assertThat(result.err()).isEmpty();
    assertThat(result.exitCode()).isZero();
    assertThat(result.out())
        .contains("2,000 messages came back as they were", "guest: exit code 0")
        .doesNotContain("?");
  }

  @ParameterizedTest
  @ValueSource(strings = {"spin", "sleep"})
  void theSegmentMayBeAFile(String strategy) throws Exception {
    Path path = directory.resolve("hub");
    Program.Result result =
        Program.of(
                BELFRY,
                "shm",
                "ping",
                "--hub-path=" + path,
                "--count=100",
                "--",
                BELFRY.toString(),
                "shm",
                "echo",
                "--wait=" + strategy)
            .run();

    assertThat(result.err()).isEmpty();
    assertThat(result.exitCode()).isZero();
    assertThat(path).doesNotExist();
  }
}
