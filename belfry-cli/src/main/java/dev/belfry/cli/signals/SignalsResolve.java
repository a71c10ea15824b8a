package dev.belfry.cli.signals;

import dev.belfry.cli.Version;
import dev.belfry.signals.Signal;
import dev.belfry.signals.SignalCatalog;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code belfry signals resolve}: prints which signal each text means. */
@Command(
    name = "resolve",
    description = "Prints the name of the signal that each TEXT means, or - if it means none.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:all are signals", "1:one or more are not"})
final class SignalsResolve implements Callable<Integer> {
  private final SignalsCommand signals;

  @Parameters(
      arity = "1..*",
      paramLabel = "TEXT",
      description = "A name with or without SIG, in any case, or a Linux signal number.")
  private List<String> texts = List.of();

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  SignalsResolve(SignalsCommand signals) {
    this.signals = signals;
  }

  @Override
  public Integer call() throws IOException {
    SignalCatalog catalog = signals.catalog();
    boolean allKnown = true;
    for (String text : texts) {
      String name = catalog.resolve(text).map(Signal::name).orElse("-");
      spec.commandLine().getOut().println(name);
      allKnown &= !name.equals("-");
    }
    return allKnown ? 0 : 1;
  }
}
