package dev.belfry.cli.config;

import java.io.Serial;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** A configuration that cannot be used, with everything that is wrong with it. */
public final class ConfigException extends Exception {
  @Serial private static final long serialVersionUID = 1;

  private final transient List<ConfigFault> faults;

  ConfigException(Path file, List<ConfigFault> faults) {
    super(
        faults.stream()
            .map(fault -> "\n  " + fault)
            .collect(Collectors.joining("", file + " is not a valid configuration:", "")));
    this.faults = List.copyOf(faults);
  }

  /** All faults, by their lines. */
  public List<ConfigFault> faults() {
    return faults;
  }
}
