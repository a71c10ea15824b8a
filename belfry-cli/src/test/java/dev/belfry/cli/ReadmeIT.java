package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Signo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands of the README work, typed one after the other. */
@Timeout(300)
final class ReadmeIT {
  private static final String HOST = "./belfry run";

  @TempDir private Path directory = Path.of("");

  @Test
  void everyCommandOfTheReadmeWorks() throws Exception {
    List<String> commands = commands();
    assertThat(commands).startsWith(HOST).hasSizeGreaterThan(5);
    try (DemoPorts _ = DemoPorts.hold();
        Program host = inProject("exec " + HOST).start()) {
      host.awaitLine("kill -TERM"); // the last command that it suggests
      for (String command : commands) {
        if (!command.equals(HOST)) {
          Program.Result result = inProject(command).run();
          assertThat(result.exitCode()).as("%s: %s", command, result).isZero();
          assertThat(result.out()).as(command).isNotBlank();
        }
      }
      assertThat(host.signalUntilTheEnd(Signo.TERM).exitCode()).isEqualTo(143);
    }
  }

  private Program.Start inProject(String command) {
    return Program.of("bash", "-c", command)
        .in(Installation.PROJECT)
        .with("XDG_RUNTIME_DIR", directory.toString());
  }

  /** Returns the commands in code blocks, without their comments. */
  private static List<String> commands() throws IOException {
    var commands = new ArrayList<String>();
    boolean inBlock = false;
    for (String line : Files.readAllLines(Installation.PROJECT.resolve("README.md"))) {
      if (line.startsWith("```")) {
        inBlock = !inBlock;
      } else if (inBlock && line.startsWith("./belfry")) {
        commands.add(line.replaceFirst(" +#.*", ""));
      }
    }
    return commands;
  }
}
