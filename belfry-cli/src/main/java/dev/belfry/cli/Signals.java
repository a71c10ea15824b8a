package dev.belfry.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code belfry signals}: what has to do with signals. */
@Command(
    name = "signals",
    description = "Shows what has to do with signals.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n")
final class Signals implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  private Signals() {}

  /** The command with its own commands. */
  static CommandLine commandLine() {
    return new CommandLine(new Signals()).addSubcommand(new SignalsWatch());
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Say which command to run.");
  }
}
