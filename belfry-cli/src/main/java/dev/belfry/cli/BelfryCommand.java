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
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code belfry} command, with all its subcommands. */
@Command(
    name = "belfry",
    description = "Runs work in crash-isolated worker processes over shared memory.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n",
    footer = {"", "'belfry help COMMAND' shows the help of a command."})
final class BelfryCommand implements Runnable {
  /** In the order in which the help lists them. */
  private static final List<String> COMMANDS =
      List.of(
          "run",
          "validate",
          "call",
          "top",
          "signal",
          "signals",
          "shm",
          "echo",
          "doctor",
          "bench",
          "completion",
          "help");

  /** Commands that describe the others and so need all of them. */
  private static final List<String> ABOUT_ALL = List.of("completion", "help");

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  private BelfryCommand() {}

  /**
   * Runs a command line.
   *
   * @param sys system calls, for the commands that need them
   * @param bytes standard output, for binary data
   * @return the exit code: the command's own, 2 if the command line is wrong, 1 if it failed
   */
  static int execute(
      Supplier<Sys> sys, OutputStream bytes, PrintWriter out, PrintWriter err, String... args) {
    var belfry = new CommandLine(new BelfryCommand());
    for (String name : needed(args)) {
      belfry.addSubcommand(name, command(name, sys, bytes));
    }
    return belfry
        .setExpandAtFiles(false) // to 'call', @FILE means something else
        .setOut(out)
        .setErr(err)
        .setParameterExceptionHandler(new UsageErrors())
        .setExecutionExceptionHandler(new Failures())
        .execute(args);
  }

  /** The command that is called, if that is clear. Loading them all takes longer than most run. */
  private static List<String> needed(String... args) {
    boolean one = args.length > 0 && COMMANDS.contains(args[0]) && !ABOUT_ALL.contains(args[0]);
    return one ? List.of(args[0]) : COMMANDS;
  }

  private static Object command(String name, Supplier<Sys> sys, OutputStream bytes) {
    return switch (name) {
      case "run" -> new Run(sys);
      case "validate" -> new Validate();
      case "call" -> new CallCommand(System.in, bytes);
      case "top" -> new Top(sys);
      case "signal" -> new SendSignal(sys);
      case "signals" -> SignalsCommand.commandLine();
      case "shm" -> Shm.commandLine(sys);
      case "echo" -> new Echo();
      case "doctor" -> new Doctor(sys);
      case "bench" -> new CommandLine(new Bench()).setUnmatchedOptionsArePositionalParams(true);
      case "completion" -> new Completion();
      case "help" -> new Help();
      default -> throw new IllegalArgumentException(name);
    };
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Say which command to run.");
  }
}
