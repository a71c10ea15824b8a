package dev.belfry.signals.yaml;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.composer.Composer;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.parser.ParserImpl;
import org.snakeyaml.engine.v2.scanner.StreamReader;

/**
 * A value in a document. Reading it as a type that it does not have adds a fault and returns a
 * placeholder, so that reading continues and finds further faults.
 */
public final class YamlValue {
  private static final Pattern DECIMAL = Pattern.compile("-?[0-9]{1,9}");

  private final Node node;
  private final String path;
  private final Faults faults;

  YamlValue(Node node, String path, Faults faults) {
    this.node = node;
    this.path = path;
    this.faults = faults;
  }

  /** Parses a document; empty, with a fault, if the text is not YAML or has no content. */
  public static Optional<YamlValue> parse(String text, Faults faults) {
    try {
      LoadSettings settings = LoadSettings.builder().build();
      Optional<Node> root =
          new Composer(settings, new ParserImpl(settings, new StreamReader(settings, text)))
              .getSingleNode();
      if (root.isEmpty()) {
        faults.add(1, "", "the document is empty");
      }
      return root.map(node -> new YamlValue(node, "", faults));
    } catch (MarkedYamlEngineException e) {
      int line = e.getProblemMark().map(Mark::getLine).orElse(0) + 1;
      faults.add(line, "", "this is not YAML: " + e.getProblem());
    } catch (YamlEngineException e) {
      faults.add(1, "", "this is not YAML: " + e.getMessage());
    } catch (StackOverflowError e) { // the composer recurses as deep as the text nests
      faults.add(1, "", "this is nested too deeply");
    }
    return Optional.empty();
  }

  /** The line on which it begins, counted from 1. */
  public int line() {
    return node.getStartMark().map(Mark::getLine).orElse(0) + 1;
  }

  /** Its path in the document. */
  public String path() {
    return path;
  }

  /** Adds a fault at this value. */
  public void fault(String reason) {
    faults.add(line(), path, reason);
  }

  public boolean isNull() {
    return node.getTag().equals(Tag.NULL);
  }

  /** Reads a string. */
  public String text() {
    if (node instanceof ScalarNode scalar && scalar.getTag().equals(Tag.STR)) {
      return scalar.getValue();
    }
    fault("must be a string");
    return "";
  }

  /** Reads a string that must match a pattern as a whole. */
  public String text(Pattern pattern) {
    String text = text();
    if (isText() && !pattern.matcher(text).matches()) {
      fault("'" + text + "' must match " + pattern);
    }
    return text;
  }

  /** Reads an integer within bounds, both inclusive. */
  public int integer(int min, int max) {
    if (!(node instanceof ScalarNode scalar
        && scalar.getTag().equals(Tag.INT)
        && DECIMAL.matcher(scalar.getValue()).matches())) {
      fault("must be a whole number");
      return min;
    }
    int number = Integer.parseInt(scalar.getValue());
    if (number < min || number > max) {
      fault(
          max == Integer.MAX_VALUE
              ? number + " must be at least " + min
              : number + " must be between " + min + " and " + max);
      return min;
    }
    return number;
  }

  /** Reads a boolean. */
  public boolean bool() {
    if (node instanceof ScalarNode scalar && scalar.getTag().equals(Tag.BOOL)) {
      return Boolean.parseBoolean(scalar.getValue());
    }
    fault("must be true or false");
    return true;
  }

  /** Reads one of a set of words; the first one if it is none of them. */
  public <T> T oneOf(List<T> choices, Function<T, String> word) {
    if (isText()) {
      for (T choice : choices) {
        if (word.apply(choice).equals(text())) {
          return choice;
        }
      }
    }
    fault("must be one of " + String.join(", ", choices.stream().map(word).toList()));
    return choices.getFirst();
  }

  /** Reads a list of at least so many elements. */
  public List<YamlValue> list(int minItems) {
    if (!(node instanceof SequenceNode sequence)) {
      fault("must be a list");
      return List.of();
    }
    var items = new ArrayList<YamlValue>();
    for (Node item : sequence.getValue()) {
      items.add(new YamlValue(item, path + "[" + items.size() + "]", faults));
    }
    if (items.size() < minItems) {
      fault("must have at least " + minItems + " element");
    }
    return items;
  }

  /** Reads a mapping; one without fields if the value is not a mapping. */
  public YamlMapping mapping() {
    return new YamlMapping(this, node, faults);
  }

  private boolean isText() {
    return node instanceof ScalarNode scalar && scalar.getTag().equals(Tag.STR);
  }
}
