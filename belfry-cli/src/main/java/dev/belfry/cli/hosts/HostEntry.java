package dev.belfry.cli.hosts;

import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The entry of a live host in the {@link RunDirectory}.
 *
 * @param pid its process id
 * @param name its name in the configuration; several hosts may share one
 * @param gateway the address of its gateway, if it has one
 * @param admin the address of its admin surface, if it has one
 * @param counters the file of its counters
 * @param config its configuration file, if it has one
 * @param startedAt when it started
 */
public record HostEntry(
    long pid,
    String name,
    @Nullable URI gateway,
    @Nullable URI admin,
    Path counters,
    @Nullable Path config,
    Instant startedAt) {

  /** Returns the content of its file: a JSON object, without the fields that the host lacks. */
  String toJson() {
    ObjectNode json = JsonMapper.shared().createObjectNode();
    json.put("pid", pid).put("name", name);
    if (gateway != null) {
      json.put("gateway", gateway.toString());
    }
    if (admin != null) {
      json.put("admin", admin.toString());
    }
    json.put("counters", counters.toString());
    if (config != null) {
      json.put("config", config.toString());
    }
    return json.put("startedAt", startedAt.toString()).toPrettyString() + "\n";
  }

  /**
   * Parses the result of {@link #toJson}.
   *
   * @throws RuntimeException if the text is anything else
   */
  static HostEntry parse(String text) {
    JsonNode json = JsonMapper.shared().readTree(text);
    String gateway = json.path("gateway").asString(null);
    String admin = json.path("admin").asString(null);
    String config = json.path("config").asString(null);
    return new HostEntry(
        json.required("pid").longValue(),
        json.required("name").stringValue(),
        gateway == null ? null : URI.create(gateway),
        admin == null ? null : URI.create(admin),
        Path.of(json.required("counters").stringValue()),
        config == null ? null : Path.of(config),
        Instant.parse(json.required("startedAt").stringValue()));
  }

  /** Whether a user means this host by a text: its process id or its name. */
  boolean is(String which) {
    return which.equals(Long.toString(pid)) || which.equals(name);
  }

  @Override
  public String toString() {
    return "%s (pid %d)".formatted(name, pid);
  }
}
