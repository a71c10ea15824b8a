package dev.belfry.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A configuration that a test writes to its own directory. */
record WrittenConfig(Path file) {
  static WrittenConfig in(Path directory, String text) throws IOException {
    return new WrittenConfig(Files.writeString(directory.resolve("belfry.yaml"), text));
  }

  HostConfig load() throws Exception {
    return ConfigFile.load(file);
  }

  /** Returns its faults; fails if there are none. */
  List<ConfigFault> faults() {
    ConfigException refused =
        catchThrowableOfType(ConfigException.class, () -> ConfigFile.load(file));
    assertThat(refused).as("it was accepted").isNotNull();
    assertThat(refused).hasMessageStartingWith(file + " is not a valid configuration:\n  line ");
    return refused.faults();
  }
}
