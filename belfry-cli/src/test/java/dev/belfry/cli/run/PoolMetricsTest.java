package dev.belfry.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.workers.PoolOptions;
import dev.belfry.workers.WorkerPool;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import org.junit.jupiter.api.Test;

class PoolMetricsTest {
  /** Regression: metrics had no description. */
  @Test
  void everyMetricSaysWhatItIs() throws Exception {
    var meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    try (WorkerPool pool = WorkerPool.open(PoolOptions.of(List.of("sleep", "60")).workers(1))) {
      PoolMetrics.of(pool, meters);
      List<String> help = meters.scrape().lines().filter(it -> it.startsWith("# HELP")).toList();
      assertThat(help).hasSize(11).allMatch(line -> line.matches("# HELP belfry_\\w+ [A-Z].+"));
    }
  }
}
