package dev.belfry.cli;

import dev.belfry.linux.Sys;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** {@code belfry doctor}: shows whether this machine has what Belfry needs. */
@Command(
    name = "doctor",
    description = "Shows whether this machine has what Belfry needs, and why anything is missing.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:everything that is needed is there",
      "1:something that is needed is missing"
    })
final class Doctor implements Callable<Integer> {
  private final Supplier<Sys> sys;

  @Option(names = "--json", description = "Print one JSON object, for other programs.")
  private boolean json;

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  Doctor(Supplier<Sys> sys) {
    this.sys = sys;
  }

  @Override
  public Integer call() {
    Diagnosis diagnosis = Diagnosis.of(sys.get());
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(
          JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(diagnosis));
    } else {
      new DiagnosisText(spec.commandLine().getColorScheme().ansi()).print(diagnosis, out);
    }
    return diagnosis.ok() ? 0 : 1;
  }
}
