package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What commands do not have to wait for. */
class StartUpIT {
  @TempDir private Path directory = Path.of("");

  @Test
  void aCommandLoadsNoOther() throws Exception {
    assertThat(loadedBy("signals", "resolve", "TERM"))
        .contains("dev.belfry.cli.signals.SignalsCommand")
        .doesNotContain(
            "dev.belfry.cli.Doctor", "dev.belfry.cli.run.Run", "dev.belfry.cli.top.Top");
  }

  private List<String> loadedBy(String... command) throws Exception {
    Path log = directory.resolve("classes");
    Program.Result result =
        Program.of(Installation.PROJECT.resolve("belfry"), command)
            .with("BELFRY_JAVA_OPTS", "-Xlog:class+load:file=" + log + ":none")
            .run();
    assertThat(result.exitCode()).isZero();
    try (Stream<String> lines = Files.lines(log)) {
      return lines.map(line -> line.split(" ", 2)[0]).toList();
    }
  }
}
