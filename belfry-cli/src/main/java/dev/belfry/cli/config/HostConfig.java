package dev.belfry.cli.config;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The configuration of a host.
 *
 * @param name the name by which people tell hosts apart
 * @param workers its workers
 * @param gateway its gateway, if it has one
 * @param admin its admin surface, if it has one
 * @param logging its log
 * @param shutdownLimit how long an orderly shutdown may take
 */
public record HostConfig(
    String name,
    WorkersConfig workers,
    Optional<GatewayConfig> gateway,
    Optional<AdminConfig> admin,
    LoggingConfig logging,
    Duration shutdownLimit) {
  static final Duration SHUTDOWN_LIMIT = Duration.ofSeconds(30);

  /** Returns what runs without a file: two workers and a spare, both surfaces on loopback. */
  public static HostConfig demo() {
    return new HostConfig(
        "demo",
        WorkersConfig.of(new WorkerProgram.Demo()),
        Optional.of(GatewayConfig.DEFAULT),
        Optional.of(AdminConfig.DEFAULT),
        LoggingConfig.DEFAULT,
        SHUTDOWN_LIMIT);
  }

  /**
   * Finds secrets in files that every user may read. These are warnings: the host can run.
   *
   * @return a sentence for each, without a full stop
   * @throws IOException if the permissions of a file cannot be read
   */
  public List<String> openSecrets() throws IOException {
    var secrets = new LinkedHashMap<String, Optional<SecretSource>>();
    secrets.put("gateway's token", gateway.flatMap(GatewayConfig::token));
    secrets.put("admin surface's token", admin.flatMap(AdminConfig::token));
    secrets.put(
        "admin surface's password",
        admin.flatMap(AdminConfig::basic).map(AdminConfig.Basic::password));
    var open = new ArrayList<String>();
    for (Map.Entry<String, Optional<SecretSource>> secret : secrets.entrySet()) {
      if (secret.getValue().isPresent()) {
        secret
            .getValue()
            .get()
            .openFile()
            .map(file -> "every user may read the " + secret.getKey() + " in " + file)
            .ifPresent(it -> open.add(it + ": chmod o= it"));
      }
    }
    return open;
  }
}
