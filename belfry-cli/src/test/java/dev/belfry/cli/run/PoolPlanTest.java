package dev.belfry.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.cli.config.HostConfig;
import dev.belfry.workers.PoolListener;
import dev.belfry.workers.PoolOptions;
import org.junit.jupiter.api.Test;

class PoolPlanTest {
  /** Regression: a host killed workers after two silent seconds, where other pools wait for ten. */
  @Test
  void aHostThatIsToldNothingHasAPoolAsEverybodyHas() {
    PoolOptions planned = PoolPlan.of(HostConfig.demo(), new PoolListener() {});
    assertThat(planned)
        .usingRecursiveComparison()
        .ignoringFields("command", "crashDirectory", "listener")
        .isEqualTo(
            PoolOptions.of("any")
                .withoutEnvironment("BELFRY_TOKEN")
                .withoutEnvironment("NOTIFY_SOCKET"));
  }
}
