package dev.belfry.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.admin.AuthMethod;
import dev.belfry.shm.Placement;
import dev.belfry.shm.WaitStrategy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ConfigFileTest {
  @TempDir private Path directory = Path.of("");

  /** Patterns for numbers are easily wrong at a digit, so this tries all values near the limit. */
  @Test
  void aTimeIsAtMostTwentyDays() {
    Pattern time =
        Pattern.compile(
            JsonMapper.shared()
                .readTree(ConfigSchema.text())
                .at("/$defs/duration/pattern")
                .asString());
    Map<String, Integer> most = Map.of("h", 480, "m", 28_800, "s", 1_728_000, "ms", 1_728_000_000);
    most.forEach(
        (unit, limit) -> {
          int step = Math.max(1, limit / 100_000);
          for (long count = 0; count <= 2L * limit; count += step) {
            boolean isGood = count > 0 && count <= limit;
            assertThat(time.matcher(count + unit).find()).as("%d%s", count, unit).isEqualTo(isGood);
          }
          assertThat(time.matcher(limit + 1 + unit).find()).isFalse();
        });
  }

  @Test
  void everythingThatCanBeSaidIsTakenOver() throws Exception {
    Files.createDirectory(directory.resolve("work"));
    Files.writeString(directory.resolve("token"), "secret\n");
    HostConfig config =
        load(
            """
            name: shop
            workers:
              java:
                main: com.example.Resizer
                class_path: [lib/*]
                options: [-Xmx256m]
                arguments: [--fast]
              name: resizer
              count: 4
              spares: 2
              directory: work
              environment: {REGION: eu}
              limits: {calls_per_worker: 8, attempts: 2, ready: 5s, stuck: 300ms, heartbeat: 2s,
                open_files: 256, memory_mib: 512}
              placement: v1
              waiting: sleep
              restart: {first_delay: 1s, longest_delay: 1m, crash_limit: 7}
              recycle: {calls: 1000, age: 1h}
            gateway:
              listen: '[::]:8080'
              token_file: token
              max_bytes: 1000
              deadline: 2s
            admin:
              listen: 127.0.0.1:8081
              unix_socket: admin.sock
              basic: {user: ann, password_file: token}
              signal_endpoint_auth_method: basic
              signal_rate_limit: 3
            logging: {format: json, level: debug}
            shutdown: {time_limit: 10s}
            """);
    assertThat(config)
        .isEqualTo(
            new HostConfig(
                "shop",
                new WorkersConfig(
                    new WorkerProgram.Java(
                        "com.example.Resizer",
                        List.of(directory.resolve("lib/*").toString()),
                        List.of("-Xmx256m"),
                        List.of("--fast")),
                    "resizer",
                    4,
                    2,
                    Optional.of(directory.resolve("work")),
                    Map.of("REGION", "eu"),
                    new WorkersConfig.Limits(
                        8,
                        2,
                        Duration.ofSeconds(5),
                        Duration.ofMillis(300),
                        Duration.ofSeconds(2),
                        OptionalLong.of(256),
                        OptionalLong.of(512)),
                    Placement.V1,
                    WaitStrategy.SLEEP,
                    new WorkersConfig.Restart(Duration.ofSeconds(1), Duration.ofMinutes(1), 7),
                    new WorkersConfig.Recycle(
                        OptionalLong.of(1000), Optional.of(Duration.ofHours(1)))),
                Optional.of(
                    new GatewayConfig(
                        new InetSocketAddress(InetAddress.ofLiteral("::"), 8080),
                        Optional.of(new SecretSource.InFile(directory.resolve("token"))),
                        1000,
                        Duration.ofSeconds(2))),
                Optional.of(
                    new AdminConfig(
                        new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 8081),
                        Optional.of(directory.resolve("admin.sock")),
                        Optional.empty(),
                        Optional.of(
                            new AdminConfig.Basic(
                                "ann", new SecretSource.InFile(directory.resolve("token")))),
                        Optional.empty(),
                        Optional.of(AuthMethod.BASIC),
                        3)),
                new LoggingConfig(LoggingConfig.Format.JSON, System.Logger.Level.DEBUG),
                Duration.ofSeconds(10)));
  }

  @Test
  void whatIsNotSaidIsAsTheDemonstrationHasIt() throws Exception {
    HostConfig config = load("name: demo\nworkers: {builtin: demo}\ngateway: {}\nadmin: {}\n");
    assertThat(config).isEqualTo(HostConfig.demo());
    HostConfig without = load("workers: {builtin: demo}\n");
    assertThat(without.gateway()).isEmpty();
    assertThat(without.admin()).isEmpty();
  }

  /** People and their editors read the schema too, so it must be true. */
  @Test
  void theDefaultsOfTheSchemaAreThoseOfTheProgram() throws Exception {
    JsonNode types = JsonMapper.shared().readTree(ConfigSchema.text()).path("$defs");
    var text = new StringBuilder("name: demo\nworkers:\n  builtin: demo\n");
    addDefaults(text, "  ", types.path("workers"));
    for (String section : List.of("gateway", "admin", "logging", "shutdown")) {
      text.append(section).append(":\n");
      addDefaults(text, "  ", types.path(section));
    }
    assertThat(text).contains("calls_per_worker: 64", "listen: 127.0.0.1:7071", "time_limit: 30s");
    assertThat(load(text.toString())).isEqualTo(HostConfig.demo());
  }

  private static void addDefaults(StringBuilder text, String indent, JsonNode type) {
    type.path("properties")
        .properties()
        .forEach(
            field -> {
              JsonNode value = field.getValue().path("default");
              if (!value.isMissingNode()) {
                text.append(indent).append(field.getKey()).append(": ");
                text.append(value.asString()).append('\n');
              } else if (field.getKey().matches("limits|restart")) {
                text.append(indent).append(field.getKey()).append(":\n");
                addDefaults(text, indent + "  ", field.getValue());
              }
            });
  }

  /** Regression: if ".." followed a symbolic link, they were looked for in the wrong directory. */
  @Test
  void pathsAreRelativeToWhereTheFileReallyIs() throws Exception {
    Path real = Files.createDirectories(directory.resolve("real/below"));
    Path link = Files.createSymbolicLink(directory.resolve("link"), real);
    Path worker = Files.writeString(real.resolveSibling("worker"), "#!/bin/sh\n");
    assertThat(worker.toFile().setExecutable(true)).isTrue();
    Files.writeString(real.resolveSibling("belfry.yaml"), "workers: {command: [./worker]}\n");
    assertThat(ConfigFile.load(link.resolve("../belfry.yaml")).workers().program())
        .isInstanceOfSatisfying(
            WorkerProgram.Command.class,
            it -> assertThat(Path.of(it.words().getFirst())).hasSameBinaryContentAs(worker));
  }

  private HostConfig load(String text) throws Exception {
    return WrittenConfig.in(directory, text).load();
  }
}
