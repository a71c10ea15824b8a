package dev.belfry.signals.yaml;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/** A mapping from names to values. A name that occurs twice or is not a scalar is a fault. */
public final class YamlMapping {
  private final YamlValue self;
  private final Map<String, YamlValue> fields = new LinkedHashMap<>();

  YamlMapping(YamlValue self, Node node, Faults faults) {
    this.self = self;
    if (!(node instanceof MappingNode mapping)) {
      self.fault("must be a mapping");
      return;
    }
    for (NodeTuple tuple : mapping.getValue()) {
      if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
        new YamlValue(tuple.getKeyNode(), self.path(), faults).fault("a name must be a string");
        continue;
      }
      String name = key.getValue();
      String path = self.path().isEmpty() ? name : self.path() + "." + name;
      if (fields.putIfAbsent(name, new YamlValue(tuple.getValueNode(), path, faults)) != null) {
        new YamlValue(key, path, faults).fault("is there twice");
      }
    }
  }

  /** All fields, in document order. */
  public Map<String, YamlValue> fields() {
    return Collections.unmodifiableMap(fields);
  }

  /** A field that may be absent. */
  public Optional<YamlValue> optional(String name) {
    return Optional.ofNullable(fields.get(name));
  }

  /** A mandatory field; empty, and a fault, if it is absent. */
  public Optional<YamlValue> required(String name) {
    if (!fields.containsKey(name)) {
      self.fault("lacks the field " + name);
    }
    return optional(name);
  }

  /** Adds a fault for every field other than these. */
  public YamlMapping only(String... names) {
    Set<String> known = Set.copyOf(List.of(names));
    fields.forEach(
        (name, value) -> {
          if (!known.contains(name)) {
            value.fault("is not a field of the catalog");
          }
        });
    return this;
  }

  /** This mapping as a value, with its line and path. */
  public YamlValue self() {
    return self;
  }
}
