package dev.belfry.cli.config;

import java.time.Duration;
import java.util.Optional;

/**
 * What a host is made of.
 *
 * @param name what people tell it from others by
 * @param workers its workers
 * @param gateway where calls come in over HTTP, if they do
 * @param admin its admin surface, if it has one
 * @param logging its log
 * @param shutdownLimit how long an orderly end may take
 */
public record HostConfig(
    String name,
    WorkersConfig workers,
    Optional<GatewayConfig> gateway,
    Optional<AdminConfig> admin,
    LoggingConfig logging,
    Duration shutdownLimit) {
  static final Duration SHUTDOWN_LIMIT = Duration.ofSeconds(30);

  /** What runs where there is no file: two workers and a spare, both surfaces on loopback. */
  public static HostConfig demo() {
    return new HostConfig(
        "demo",
        WorkersConfig.of(new WorkerProgram.Demo()),
        Optional.of(GatewayConfig.DEFAULT),
        Optional.of(AdminConfig.DEFAULT),
        LoggingConfig.DEFAULT,
        SHUTDOWN_LIMIT);
  }
}
