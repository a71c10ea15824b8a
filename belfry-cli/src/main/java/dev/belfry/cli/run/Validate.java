package dev.belfry.cli.run;

import dev.belfry.admin.AdminTls;
import dev.belfry.cli.Version;
import dev.belfry.cli.config.AdminConfig;
import dev.belfry.cli.config.ConfigException;
import dev.belfry.cli.config.ConfigFault;
import dev.belfry.cli.config.ConfigFile;
import dev.belfry.cli.config.ConfigSchema;
import dev.belfry.cli.config.HostConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** {@code belfry validate}: checks whether a host can run with a configuration. */
@Command(
    name = "validate",
    description = "Checks a configuration and prints every error as FILE:LINE: FIELD: REASON.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:it is valid", "1:it is not valid, or cannot be read"})
public final class Validate implements Callable<Integer> {
  private static final int INVALID = 1;

  @Parameters(arity = "0..1", paramLabel = "CONFIG", description = "The configuration, in YAML.")
  private @Nullable Path file;

  @Option(
      names = "--json",
      description = "Print one JSON array of objects with line, field and reason.")
  private boolean json;

  @Option(names = "--schema", description = "Print the JSON Schema of configurations instead.")
  private boolean schema;

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    if (schema) {
      out.print(ConfigSchema.text());
      return 0;
    }
    if (file == null) {
      throw new ParameterException(spec.commandLine(), "Say which CONFIG to check.");
    }
    try {
      HostConfig config = ConfigFile.load(file);
      warn(config);
      out.println(json ? "[]" : file + " is valid");
      return 0;
    } catch (ConfigException e) {
      print(out, file, e.faults());
      return INVALID;
    }
  }

  /** Warns on standard error, apart from the result: the host can run all the same. */
  private void warn(HostConfig config) throws IOException {
    var warnings = new ArrayList<>(config.openSecrets());
    Optional<AdminTls> tls = config.admin().flatMap(AdminConfig::tls);
    if (tls.isPresent()) {
      warnings.addAll(tls.get().warnings(Instant.now()));
    }
    for (String warning : warnings) {
      spec.commandLine().getErr().println("belfry validate: warning: " + warning);
    }
  }

  private void print(PrintWriter out, Path checked, List<ConfigFault> faults) {
    if (json) {
      out.println(JsonMapper.shared().writeValueAsString(faults));
      return;
    }
    for (ConfigFault fault : faults) {
      String field = fault.field().isEmpty() ? "" : fault.field() + ": ";
      out.println(checked + ":" + fault.line() + ": " + field + fault.reason());
    }
  }
}
