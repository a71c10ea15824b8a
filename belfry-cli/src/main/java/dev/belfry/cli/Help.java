package dev.belfry.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code belfry help}: unlike picocli's own, it also knows nested commands. */
@Command(name = "help", description = "Shows the help of a command.", helpCommand = true)
final class Help implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  @Parameters(paramLabel = "COMMAND", description = "Such as 'top' or 'shm ping'.")
  private List<String> names = new ArrayList<>();

  Help() {}

  @Override
  public void run() {
    CommandLine command = spec.parent().commandLine();
    for (String name : names) {
      CommandLine below = command.getSubcommands().get(name);
      if (below == null) {
        throw new ParameterException(command, "Unknown command '" + name + "'.");
      }
      command = below;
    }
    command.usage(spec.commandLine().getOut());
  }
}
