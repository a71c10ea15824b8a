package dev.belfry.cli.signals;

import dev.belfry.cli.Version;
import dev.belfry.signals.CatalogException;
import dev.belfry.signals.CatalogFault;
import dev.belfry.signals.SignalCatalog;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code belfry signals check}: checks whether a catalog can be used. */
@Command(
    name = "check",
    description = "Checks a catalog and prints every error as FILE:LINE: FIELD: REASON.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:it is valid", "1:it is not valid, or cannot be read"})
final class SignalsCheck implements Callable<Integer> {
  private static final int INVALID = 1;

  @Parameters(paramLabel = "FILE", description = "A catalog in YAML.")
  private Path file = Path.of("");

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    try {
      SignalCatalog catalog = CatalogFile.load(file);
      out.printf(
          "%s is valid: %d signals, %d behaviors%n",
          file, catalog.signals().size(), catalog.behaviors().size());
      return 0;
    } catch (CatalogException e) {
      for (CatalogFault fault : e.faults()) {
        String field = fault.field().isEmpty() ? "" : fault.field() + ": ";
        out.println(file + ":" + fault.line() + ": " + field + fault.reason());
      }
      return INVALID;
    }
  }
}
