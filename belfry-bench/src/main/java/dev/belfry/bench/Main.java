package dev.belfry.bench;

import dev.belfry.bench.call.CallCommand;
import dev.belfry.bench.crash.CrashCommand;
import dev.belfry.bench.death.DeathCommand;
import dev.belfry.bench.doorbell.DoorbellCommand;
import dev.belfry.bench.echo.EchoCommand;
import dev.belfry.bench.files.FilesCommand;
import dev.belfry.bench.ipc.RoundTripCommand;
import dev.belfry.bench.ipc.ThroughputCommand;
import dev.belfry.bench.plot.Plots;
import dev.belfry.bench.signal.SignalCommand;
import dev.belfry.bench.timers.TimersCommand;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a benchmark by its name. */
@Command(
    name = "belfry bench",
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
      DoorbellCommand.class,
      CallCommand.class,
      CrashCommand.class
    })
public final class Main implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create(); // set by picocli

  @Option(
      names = "--plot",
      paramLabel = "DIR",
      description = "Draw the results that --json has written to a directory, as SVG beside them.")
  private @Nullable Path plot;

  private Main() {}

  @Override
  public Integer call() throws IOException {
    if (plot == null) {
      throw new ParameterException(
          spec.commandLine(), "Say which BENCHMARK to run, or what to --plot.");
    }
    Plots.draw(plot).forEach(System.out::println);
    return ExitCode.OK;
  }

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
