package dev.belfry.cli;

import dev.belfry.cli.call.CallCommand;
import dev.belfry.cli.run.Completion;
import dev.belfry.cli.run.Run;
import dev.belfry.cli.run.SendSignal;
import dev.belfry.cli.run.Validate;
import dev.belfry.cli.shm.Shm;
import dev.belfry.cli.signals.SignalsCommand;
import dev.belfry.cli.top.Top;
import dev.belfry.linux.Sys;
import java.io.OutputStream;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code belfry} itself, with all its commands. */
@Command(
    name = "belfry",
    description = "Runs work in crash-isolated worker processes over shared memory.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n",
    footer = {"", "'belfry help COMMAND' shows the help of a command."})
final class BelfryCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  private BelfryCommand() {}

  /**
   * Runs a command line.
   *
   * @param sys for commands that look at the machine
   * @param bytes standard output for what is not text
   * @return the exit code: the command's own, 2 if the command line is wrong, 1 if it failed
   */
  static int execute(
      Sys sys, OutputStream bytes, PrintWriter out, PrintWriter err, String... args) {
    return new CommandLine(new BelfryCommand())
        .addSubcommand(new Run(sys))
        .addSubcommand(new Validate())
        .addSubcommand(new CallCommand(System.in, bytes))
        .addSubcommand(new Top(sys))
        .addSubcommand(new SendSignal(sys))
        .addSubcommand(SignalsCommand.commandLine())
        .addSubcommand(Shm.commandLine(sys))
        .addSubcommand(new Echo())
        .addSubcommand(new Doctor(sys))
        .addSubcommand(new CommandLine(new Bench()).setUnmatchedOptionsArePositionalParams(true))
        .addSubcommand(new Completion())
        .addSubcommand(new Help())
        .setExpandAtFiles(false) // @FILE means something else to call
        .setOut(out)
        .setErr(err)
        .setParameterExceptionHandler(new UsageErrors())
        .setExecutionExceptionHandler(new Failures())
        .execute(args);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Say which command to run.");
  }
}
