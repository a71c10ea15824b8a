package dev.belfry.cli.signals;

import dev.belfry.cli.Version;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code belfry signals match}: prints the names that match a pattern. */
@Command(
    name = "match",
    description = "Prints the names that a pattern matches: * is any characters, ? any one.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:the names that match, if any, were printed", "1:the catalog cannot be used"})
final class SignalsMatch implements Callable<Integer> {
  private final SignalsCommand signals;

  @Parameters(
      paramLabel = "GLOB",
      description = "Matches whole names, SIG included, in any case; quote it for the shell.")
  private String glob = "";

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  SignalsMatch(SignalsCommand signals) {
    this.signals = signals;
  }

  @Override
  public Integer call() throws IOException {
    signals.catalog().match(glob).forEach(spec.commandLine().getOut()::println);
    return 0;
  }
}
