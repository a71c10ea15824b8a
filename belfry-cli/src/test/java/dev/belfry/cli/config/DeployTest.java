package dev.belfry.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.belfry.cli.HostCertificate;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The files shipped for operators fit the program. */
class DeployTest {
  private static final Path PROJECT = Path.of(System.getProperty("belfry.root"));
  private static final Path DEPLOY = PROJECT.resolve("deploy");

  @TempDir private Path directory = Path.of("");

  @Test
  void theExampleIsValidAndNamesEveryField() throws Exception {
    HostConfig config = ConfigFile.load(DEPLOY.resolve("belfry.yaml"));
    HostConfig demo = HostConfig.demo();
    assertThat(config.workers().limits().heartbeat())
        .isEqualTo(demo.workers().limits().heartbeat());
    assertThat(config.gateway()).isEqualTo(demo.gateway());
    assertThat(config.logging()).isEqualTo(demo.logging());
    assertThat(config.shutdownLimit()).isEqualTo(demo.shutdownLimit());

    String text = Files.readString(DEPLOY.resolve("belfry.yaml"));
    JsonNode workers =
        JsonMapper.shared().readTree(ConfigSchema.text()).at("/$defs/workers/properties");
    workers.propertyNames().stream()
        .filter(field -> !field.equals("directory"))
        .forEach(field -> assertThat(text).contains(field + ":"));
  }

  /** systemd itself checks the unit; the program's path is replaced by this project's. */
  @Test
  void systemdFindsNothingWrongWithTheUnit() throws Exception {
    Path verify = Path.of("/usr/bin/systemd-analyze");
    assumeTrue(Files.isExecutable(verify), "this machine has no systemd-analyze");
    String unit = Files.readString(DEPLOY.resolve("belfry.service"));
    assertThat(unit).contains("ExecStart=/opt/belfry/belfry run ");
    Path copy =
        Files.writeString(
            directory.resolve("belfry.service"), unit.replace("/opt/belfry", PROJECT.toString()));
    Process process =
        new ProcessBuilder(verify.toString(), "verify", "--man=no", copy.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(said.lines().filter(line -> line.contains("belfry"))).isEmpty();
    assertThat(process.waitFor()).isZero();
  }

  /** Returns the settings of the unit, by name. */
  private static Map<String, String> unit() throws IOException {
    return Files.readAllLines(DEPLOY.resolve("belfry.service")).stream()
        .filter(line -> line.contains("=") && !line.startsWith("#"))
        .collect(
            Collectors.toMap(
                line -> line.substring(0, line.indexOf('=')),
                line -> line.substring(line.indexOf('=') + 1)));
  }

  /** A token made by the host would be lost with its run directory, at each reload. */
  @Test
  void systemdHandsOverTheTokenThatTheExampleNames() throws Exception {
    assertThat(unit()).containsEntry("LoadCredential", "admin-token:/etc/belfry/admin-token");
    assertThat(DEPLOY.resolve("belfry.yaml"))
        .content()
        .contains("token_file: /run/credentials/belfry.service/admin-token");
  }

  /** Regression: dependent units were started before the host had a worker. */
  @Test
  void systemdWaitsUntilTheHostServes() throws Exception {
    assertThat(unit()).containsEntry("Type", "notify").doesNotContainKey("TimeoutStartSec");
    Duration ready = ConfigFile.load(DEPLOY.resolve("belfry.yaml")).workers().limits().ready();
    assertThat(ready).isLessThan(Duration.ofSeconds(90)); // the default of TimeoutStartSec
  }

  @Test
  void systemdWaitsLongerThanTheHostTakes() throws Exception {
    Map<String, String> unit = unit();
    Duration limit = ConfigFile.load(DEPLOY.resolve("belfry.yaml")).shutdownLimit();
    assertThat(Long.parseLong(unit.get("TimeoutStopSec"))).isGreaterThan(limit.toSeconds());
    assertThat(unit)
        // Regression: SIGHUP killed what was not the host yet, which counted as a clean exit.
        .containsEntry("RestartForceExitStatus", "129 SIGHUP")
        .containsEntry("KillMode", "mixed")
        .containsEntry("ExecReload", "/bin/kill -HUP $MAINPID");
  }

  /** Regression: to systemd a reload is a start, and at the sixth in ten seconds it gave up. */
  @Test
  void systemdDoesNotGiveItUpForAFewReloads() throws Exception {
    Map<String, String> unit = unit();
    assertThat(unit)
        .containsEntry("StartLimitIntervalSec", "60")
        .containsEntry("StartLimitBurst", "30");
  }

  @Test
  void kubernetesAsksAtThePortsOfItsConfigurationAndWaitsLongEnough() throws Exception {
    JsonNode objects = kubernetes();
    JsonNode pod = objects.at("/Deployment/spec/template/spec");
    JsonNode container = pod.at("/containers/0");
    HostConfig config = embedded(objects.at("/ConfigMap/data/belfry.yaml").asString());

    Map<String, Integer> ports = new HashMap<>();
    container
        .path("ports")
        .forEach(it -> ports.put(it.path("name").asString(), it.path("containerPort").asInt()));
    assertThat(ports)
        .isEqualTo(
            Map.of(
                "calls", config.gateway().orElseThrow().listen().getPort(),
                "admin", config.admin().orElseThrow().listen().getPort()));
    for (String kind : List.of("readiness", "liveness")) {
      JsonNode get = container.path(kind + "Probe").path("httpGet");
      assertThat(get.path("port").asString()).isEqualTo("admin");
      assertThat(get.path("scheme").asString()).isEqualTo("HTTPS"); // the configuration has TLS
    }
    assertThat(container.at("/readinessProbe/httpGet/path").asString()).isEqualTo("/health/ready");
    assertThat(container.at("/livenessProbe/httpGet/path").asString()).isEqualTo("/health/live");
    // Regression: each rollout refused connections, as TERM came before the proxies knew of it.
    long pause = container.at("/lifecycle/preStop/exec/command/1").asLong();
    assertThat(pause).isPositive();
    assertThat(pod.path("terminationGracePeriodSeconds").asLong())
        .isGreaterThan(pause + config.shutdownLimit().toSeconds());
    assertThat(objects.at("/Service/spec/ports/0/targetPort").asString()).isEqualTo("calls");
    assertThat(pod.path("shareProcessNamespace").asBoolean()).isTrue();
  }

  @Test
  void kubernetesMountsWhatTheConfigurationNames() throws Exception {
    JsonNode objects = kubernetes();
    String config = objects.at("/ConfigMap/data/belfry.yaml").asString();
    JsonNode container = objects.at("/Deployment/spec/template/spec/containers/0");
    List<String> mounts =
        stream(container.path("volumeMounts")).map(it -> it.path("mountPath").asString()).toList();
    List<String> named =
        config
            .lines()
            .filter(line -> line.contains(": /"))
            .map(it -> it.replaceFirst(".*: ", ""))
            .toList();
    assertThat(named).isNotEmpty().allMatch(path -> mounts.contains(parent(path)));
    String file = container.at("/command/2").asString();
    assertThat(mounts).contains(parent(file));
  }

  /** By default every user may read the files of a secret, and each start would warn of the key. */
  @Test
  void kubernetesKeepsTheSecretFromOthers() throws Exception {
    JsonNode pod = kubernetes().at("/Deployment/spec/template/spec");
    JsonNode secret =
        stream(pod.path("volumes"))
            .map(it -> it.path("secret"))
            .filter(JsonNode::isObject)
            .findFirst()
            .orElseThrow();
    assertThat(secret.path("defaultMode").asInt()).isEqualTo(0440);
    // Otherwise the host itself could not read files that belong to root.
    assertThat(pod.at("/securityContext/fsGroup")).isEqualTo(pod.at("/securityContext/runAsUser"));
  }

  /** Loads the configuration with stand-ins for the files of the secret. */
  private HostConfig embedded(String text) throws Exception {
    for (String file : List.of("token", "admin-token")) {
      Files.writeString(directory.resolve(file), "stands for the real one");
    }
    HostCertificate.write(directory.resolve("tls.crt"), directory.resolve("tls.key"));
    String here = text.replace("/etc/belfry/secret/", directory + "/");
    return ConfigFile.load(Files.writeString(directory.resolve("belfry.yaml"), here));
  }

  /** Returns the objects in the file, by kind. */
  private static JsonNode kubernetes() throws Exception {
    String text = Files.readString(DEPLOY.resolve("kubernetes.yaml"));
    ObjectNode objects = JsonMapper.shared().createObjectNode();
    for (Object object : new Load(LoadSettings.builder().build()).loadAllFromString(text)) {
      JsonNode node = JsonMapper.shared().valueToTree(object);
      objects.set(node.path("kind").asString(), node);
    }
    assertThat(objects.propertyNames()).containsOnly("ConfigMap", "Deployment", "Service");
    return objects;
  }

  private static String parent(String file) {
    return file.substring(0, file.lastIndexOf('/'));
  }

  private static Stream<JsonNode> stream(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false);
  }
}
