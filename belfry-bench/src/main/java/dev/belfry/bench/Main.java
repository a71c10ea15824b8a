package dev.belfry.bench;

import dev.belfry.bench.death.DeathCommand;
import dev.belfry.bench.doorbell.DoorbellCommand;
import dev.belfry.bench.echo.EchoCommand;
import dev.belfry.bench.files.FilesCommand;
import dev.belfry.bench.ipc.RoundTripCommand;
import dev.belfry.bench.ipc.ThroughputCommand;
import dev.belfry.bench.signal.SignalCommand;
import dev.belfry.bench.timers.TimersCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Runs a benchmark by its name. */
@Command(
    name = "bench",
    description = "Measures Belfry side by side with its peers.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "BENCHMARK",
    subcommands = {
      EchoCommand.class,
      TimersCommand.class,
      FilesCommand.class,
      SignalCommand.class,
      RoundTripCommand.class,
      ThroughputCommand.class,
      DeathCommand.class,
      DoorbellCommand.class
    })
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    var main = new CommandLine(new Main());
    String version = String.valueOf(Main.class.getPackage().getImplementationVersion());
    main.getCommandSpec().version(version);
    main.getSubcommands().values().forEach(bench -> bench.getCommandSpec().version(version));
    return main.setExecutionExceptionHandler(
        (failure, commandLine, _) -> {
          if (failure instanceof IllegalArgumentException wrong) {
            commandLine.getErr().println(wrong.getMessage());
            return commandLine.getCommandSpec().exitCodeOnInvalidInput();
          }
          throw failure;
        });
  }
}
