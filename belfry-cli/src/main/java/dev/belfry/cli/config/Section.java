package dev.belfry.cli.config;

import java.io.Serial;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;

/**
 * A part of a configuration that conforms to the schema. A missing field reads as its default.
 *
 * @param values its fields
 * @param directory the directory that relative paths start from
 * @param place the name of the field that holds this part; empty for the root
 */
record Section(JsonNode values, Path directory, String place) {
  /** Thrown for a path that the file system, or the locale's encoding, cannot express. */
  static final class NoPath extends RuntimeException {
    @Serial private static final long serialVersionUID = 1;

    private final String field;

    NoPath(String field, InvalidPathException cause) {
      super("this is not a valid path: " + cause.getReason(), cause);
      this.field = field;
    }

    String field() {
      return field;
    }

    String reason() {
      return String.valueOf(getMessage());
    }
  }

  /** Returns the section in a field; an empty one if the field is missing. */
  Section section(String name) {
    return new Section(values.path(name), directory, field(name));
  }

  private String field(String name) {
    return place.isEmpty() ? name : place + "." + name;
  }

  boolean has(String name) {
    return values.has(name);
  }

  String text(String name, String otherwise) {
    return values.path(name).asString(otherwise);
  }

  Optional<String> text(String name) {
    return has(name) ? Optional.of(values.path(name).asString()) : Optional.empty();
  }

  int integer(String name, int otherwise) {
    return values.path(name).asInt(otherwise);
  }

  long number(String name, long otherwise) {
    return values.path(name).asLong(otherwise);
  }

  OptionalLong number(String name) {
    return has(name) ? OptionalLong.of(values.path(name).asLong()) : OptionalLong.empty();
  }

  Duration duration(String name, Duration otherwise) {
    return duration(name).orElse(otherwise);
  }

  Optional<Duration> duration(String name) {
    return text(name)
        .map(
            text -> {
              int digits = text.replaceFirst("[a-z]+$", "").length();
              long count = Long.parseLong(text.substring(0, digits));
              return switch (text.substring(digits)) {
                case "ms" -> Duration.ofMillis(count);
                case "s" -> Duration.ofSeconds(count);
                case "m" -> Duration.ofMinutes(count);
                default -> Duration.ofHours(count);
              };
            });
  }

  /** Returns an enum constant, named in lower case. */
  <E extends Enum<E>> E choice(String name, E otherwise) {
    return text(name)
        .map(text -> Enum.valueOf(otherwise.getDeclaringClass(), text.toUpperCase(Locale.ROOT)))
        .orElse(otherwise);
  }

  Optional<Path> path(String name) {
    return text(name).map(text -> resolve(field(name), text));
  }

  private Path resolve(String field, String text) {
    try {
      return directory.resolve(text);
    } catch (InvalidPathException e) {
      throw new NoPath(field, e);
    }
  }

  /** Resolves an item of a list as a path. */
  String resolved(String name, int index, String text) {
    return resolve(field(name) + "[" + index + "]", text).toString();
  }

  Optional<SecretSource> secret(String file, String variable) {
    return path(file)
        .<SecretSource>map(SecretSource.InFile::new)
        .or(() -> text(variable).map(SecretSource.InEnvironment::new));
  }

  InetSocketAddress address(String name, InetSocketAddress otherwise) {
    return text(name)
        .map(
            text -> {
              int colon = text.lastIndexOf(':');
              String host = text.substring(0, colon).replaceAll("[\\[\\]]", "");
              return address(host, Integer.parseInt(text.substring(colon + 1)));
            })
        .orElse(otherwise);
  }

  /** Returns an unresolved address if the name has none; the checks report it. */
  private static InetSocketAddress address(String host, int port) {
    try {
      return new InetSocketAddress(InetAddress.getAllByName(host)[0], port);
    } catch (UnknownHostException e) {
      return InetSocketAddress.createUnresolved(host, port);
    }
  }

  List<String> texts(String name) {
    return items(name).map(JsonNode::asString).toList();
  }

  private Stream<JsonNode> items(String name) {
    return StreamSupport.stream(values.path(name).spliterator(), false);
  }

  /** Returns all fields in a field, as texts. */
  Map<String, String> map(String name) {
    var map = new LinkedHashMap<String, String>();
    values.path(name).properties().forEach(it -> map.put(it.getKey(), it.getValue().asString()));
    return map;
  }
}
