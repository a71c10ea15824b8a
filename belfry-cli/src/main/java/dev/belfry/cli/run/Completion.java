package dev.belfry.cli.run;

import dev.belfry.cli.Version;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code belfry completion}: prints a script with which the shell completes command lines. */
@Command(
    name = "completion",
    description = {
      "Prints a script that lets bash and zsh complete command lines.",
      "To use it:",
      "  source <(belfry completion)"
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class Completion implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  @Override
  public void run() {
    CommandSpec root = spec.root();
    spec.commandLine().getOut().print(AutoComplete.bash(root.name(), root.commandLine()));
  }
}
