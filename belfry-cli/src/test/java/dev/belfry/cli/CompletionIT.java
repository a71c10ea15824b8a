package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The completion script in a real shell, and what commands that do not need it pay for it. */
class CompletionIT {
  @TempDir private Path directory = Path.of("");

  @Test
  void bashCompletesCommandsAndOptions() throws Exception {
    Program.Result script = Program.of(HostProgram.BELFRY, "completion").run();
    assertThat(script.exitCode()).isZero();
    Path file = Files.writeString(directory.resolve("completion"), script.out() + "\n");
    assertThat(complete(file, "belfry val")).isEqualTo("validate");
    assertThat(complete(file, "belfry run --sup")).isEqualTo("--supervise");
  }

  private static String complete(Path script, String line) throws Exception {
    String[] words = line.split(" ", -1);
    String code =
        "source %s; COMP_WORDS=(%s); COMP_CWORD=%d; _complete_belfry; echo \"${COMPREPLY[@]}\""
            .formatted(script, line, words.length - 1);
    return Program.of("bash", "-c", code).run().out();
  }

  /** Loading them would take longer than all else that such a command does. */
  @Test
  void aSmallCommandLoadsNeitherTheLogNorTheServer() throws Exception {
    Path classes = directory.resolve("classes");
    Program.Result result =
        Program.of(HostProgram.BELFRY, "--version")
            .with("BELFRY_JAVA_OPTS", "-Xlog:class+load:file=" + classes)
            .run();
    assertThat(result.exitCode()).isZero();
    assertThat(Files.readString(classes))
        .contains(" dev.belfry.cli.run.Run ")
        .doesNotContain(" ch.qos.logback.", " org.slf4j.", " io.helidon.", " com.networknt.")
        .doesNotContain(" org.snakeyaml.", " io.micrometer.", " dev.belfry.workers.");
  }
}
