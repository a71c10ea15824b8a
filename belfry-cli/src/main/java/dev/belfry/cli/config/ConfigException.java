package dev.belfry.cli.config;

import java.io.Serial;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** Thrown for a configuration that cannot be used, with all its faults. */
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

  /** Returns all faults, in the order of their lines. */
  public List<ConfigFault> faults() {
    return faults;
  }
}
