package dev.belfry.cli.signals;

import dev.belfry.cli.Reason;
import dev.belfry.cli.Version;
import dev.belfry.signals.CatalogException;
import dev.belfry.signals.Platform;
import dev.belfry.signals.SignalCatalog;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** {@code belfry signals}: lists the catalog of signals, and what this platform supports of it. */
@Command(
    name = "signals",
    description =
        "Lists the signals a program knows, what it does on each, and which this machine has.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "[COMMAND]",
    commandListHeading = "%nCommands:%n",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:they were listed", "1:the catalog cannot be used"})
public final class SignalsCommand implements Callable<Integer> {
  @Option(names = "--json", description = "Print one JSON array, for other programs.")
  private boolean json;

  @Option(
      names = "--catalog",
      paramLabel = "FILE",
      scope = ScopeType.INHERIT,
      description = "Use this catalog instead of the bundled one.")
  private @Nullable Path file;

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  private final Platform platform;

  private SignalsCommand(Platform platform) {
    this.platform = platform;
  }

  /** Creates the command with its subcommands. */
  public static CommandLine commandLine() {
    var command = new SignalsCommand(Platform.current());
    return new CommandLine(command)
        .addSubcommand(new SignalsResolve(command))
        .addSubcommand(new SignalsMatch(command))
        .addSubcommand(new SignalsCheck())
        .addSubcommand(new SignalsWatch());
  }

  @Override
  public Integer call() throws IOException {
    var list = SignalList.of(catalog(), platform);
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      list.printJson(out);
    } else {
      list.printTable(out);
    }
    return 0;
  }

  /** Returns the catalog of {@code --catalog}, or the bundled one. */
  SignalCatalog catalog() throws IOException {
    try {
      return file == null ? SignalCatalog.bundled() : CatalogFile.load(file);
    } catch (CatalogException e) {
      throw new IOException(e.getMessage(), e);
    } catch (IOException e) {
      throw new IOException("cannot read the catalog: " + Reason.of(e), e);
    }
  }
}
