package dev.belfry.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What {@code belfry bench --help} shows. */
class MainTest {
  /** Regression: two broke off, as the list shows only the first part of a description. */
  @Test
  void everyBenchmarkIsListedWithAWholeSentence() {
    assertThat(Main.commandLine().getSubcommands().values())
        .allSatisfy(
            benchmark ->
                assertThat(benchmark.getCommandSpec().usageMessage().description()[0])
                    .endsWith("."));
  }
}
