package dev.belfry.cli.run;

import dev.belfry.cli.Version;
import dev.belfry.linux.Sys;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code belfry run}: runs a host. This class refers to nothing heavy, because the help and {@code
 * --version} load it too.
 */
@Command(
    name = "run",
    description = {
      "Runs a host until a signal ends it: workers, the call gateway, the admin surface.",
      "Without a configuration it runs a demonstration and prints what to try."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "1:it cannot start",
      "2:the configuration is not valid",
      "129:ended by HUP, to be started again if it has a configuration",
      "130:ended by INT",
      "131:ended by QUIT",
      "143:ended by TERM"
    })
public final class Run implements Callable<Integer> {
  @Parameters(arity = "0..1", paramLabel = "CONFIG", description = "The configuration, in YAML.")
  private @Nullable Path config;

  @Option(
      names = "--supervise",
      description = "Run the host as a child process, and start it again when it exits with 129.")
  private boolean supervise;

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  private final Supplier<Sys> sys;

  /** Creates the command. */
  public Run(Supplier<Sys> sys) {
    this.sys = sys;
  }

  @Override
  public Integer call() throws InterruptedException {
    var start = new HostStart(sys.get(), spec.commandLine().getOut(), spec.commandLine().getErr());
    return supervise ? start.supervise(config) : start.run(config);
  }
}
