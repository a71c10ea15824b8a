package dev.belfry.cli.config;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.composer.Composer;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.parser.ParserImpl;
import org.snakeyaml.engine.v2.scanner.StreamReader;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A YAML document as JSON values, for the schema, with the line of each field. */
final class YamlTree {
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  /** Deeper than any configuration, and far from overflowing the stack. */
  private static final int DEEPEST = 32;

  /** More values than any configuration has; aliases can turn a few into billions. */
  private static final int MAX_VALUES = 10_000;

  private final List<ConfigFault> faults;
  private final Map<String, Integer> lines = new HashMap<>();
  private JsonNode root = NODES.nullNode();
  private int values;
  private boolean givenUp;

  private YamlTree(List<ConfigFault> faults) {
    this.faults = faults;
  }

  /** Parses a document and adds its faults as YAML. */
  static YamlTree parse(String text, List<ConfigFault> faults) {
    var tree = new YamlTree(faults);
    try {
      LoadSettings settings = LoadSettings.builder().build();
      Optional<Node> node =
          new Composer(settings, new ParserImpl(settings, new StreamReader(settings, text)))
              .getSingleNode();
      if (node.isEmpty()) {
        faults.add(new ConfigFault(1, "", "the file is empty"));
      } else {
        tree.root = tree.value(node.get(), "", 0);
      }
    } catch (MarkedYamlEngineException e) {
      int line = e.getProblemMark().map(Mark::getLine).orElse(0) + 1;
      faults.add(new ConfigFault(line, "", "this is not YAML: " + e.getProblem()));
    } catch (YamlEngineException e) {
      faults.add(new ConfigFault(1, "", "this is not YAML: " + e.getMessage()));
    } catch (StackOverflowError e) { // the composer recurses as deep as the text nests
      faults.add(new ConfigFault(1, "", "this is nested too deeply"));
    }
    return tree;
  }

  JsonNode root() {
    return root;
  }

  /** Returns the line of a field's name, or of the nearest enclosing field that exists. */
  int line(String field) {
    String known = field;
    while (!known.isEmpty() && !lines.containsKey(known)) {
      known =
          known.substring(0, Math.max(0, Math.max(known.lastIndexOf('.'), known.lastIndexOf('['))));
    }
    return lines.getOrDefault(known, 1);
  }

  private JsonNode value(Node node, String path, int depth) {
    if (givenUp) {
      return NODES.nullNode();
    }
    values++;
    if (depth > DEEPEST) { // an alias to its own parent never ends
      return giveUp(new ConfigFault(line(node), path, "is nested too deeply"));
    }
    if (values > MAX_VALUES) {
      return giveUp(new ConfigFault(1, "", "there are more than " + MAX_VALUES + " values"));
    }
    return switch (node) {
      case MappingNode mapping -> mapping(mapping, path, depth);
      case SequenceNode sequence -> list(sequence, path, depth);
      case ScalarNode scalar -> scalar(scalar, path);
      default -> throw new IllegalStateException("a node of no known kind: " + node);
    };
  }

  /** Stops at the first fault of this kind: there may be as many as aliases expand to. */
  private JsonNode giveUp(ConfigFault fault) {
    givenUp = true;
    faults.add(fault);
    return NODES.nullNode();
  }

  private ObjectNode mapping(MappingNode mapping, String path, int depth) {
    ObjectNode fields = NODES.objectNode();
    for (NodeTuple tuple : mapping.getValue()) {
      int line = line(tuple.getKeyNode());
      if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
        faults.add(new ConfigFault(line, path, "the name of a field must be a text"));
        continue;
      }
      String field = path.isEmpty() ? key.getValue() : path + "." + key.getValue();
      if (fields.has(key.getValue())) {
        faults.add(new ConfigFault(line, field, "is there twice"));
        continue;
      }
      lines.put(field, line);
      fields.set(key.getValue(), value(tuple.getValueNode(), field, depth + 1));
    }
    return fields;
  }

  private ArrayNode list(SequenceNode sequence, String path, int depth) {
    ArrayNode items = NODES.arrayNode();
    for (Node item : sequence.getValue()) {
      String field = path + "[" + items.size() + "]";
      lines.put(field, line(item));
      items.add(value(item, field, depth + 1));
    }
    return items;
  }

  private JsonNode scalar(ScalarNode scalar, String path) {
    String text = scalar.getValue();
    Tag tag = scalar.getTag();
    try {
      if (tag.equals(Tag.INT)) {
        return NODES.numberNode(Long.parseLong(text));
      } else if (tag.equals(Tag.FLOAT)) {
        return NODES.numberNode(Double.parseDouble(text));
      } else if (tag.equals(Tag.BOOL)) {
        return NODES.booleanNode(Boolean.parseBoolean(text));
      } else if (tag.equals(Tag.NULL)) {
        return NODES.nullNode();
      }
    } catch (NumberFormatException e) {
      faults.add(new ConfigFault(line(scalar), path, "'" + text + "' is not a usable number"));
    }
    return NODES.stringNode(text);
  }

  private static int line(Node node) {
    return node.getStartMark().map(Mark::getLine).orElse(0) + 1;
  }
}
