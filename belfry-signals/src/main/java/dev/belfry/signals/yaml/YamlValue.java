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
 * One value of a document. Asking for a type other than its own adds a fault and gives a stand-in,
 * so that reading goes on and finds the next fault too.
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

  /** Reads a document; empty, with a fault, if the text is no YAML or there is nothing in it. */
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
    } catch (StackOverflowError e) { // the composer goes as deep as the text does
      faults.add(1, "", "this is nested too deeply");
    }
    return Optional.empty();
  }

  /** The line it begins in, counted from 1. */
  public int line() {
    return node.getStartMark().map(Mark::getLine).orElse(0) + 1;
  }

  /** Where it is in the document. */
  public String path() {
    return path;
  }

  /** Says that something is wrong here. */
  public void fault(String reason) {
    faults.add(line(), path, reason);
  }

  public boolean isNull() {
    return node.getTag().equals(Tag.NULL);
  }

  /** A string. */
  public String text() {
    if (node instanceof ScalarNode scalar && scalar.getTag().equals(Tag.STR)) {
      return scalar.getValue();
    }
    fault("must be a string");
    return "";
  }

  /** A string that matches as a whole. */
  public String text(Pattern pattern) {
    String text = text();
    if (isText() && !pattern.matcher(text).matches()) {
      fault("'" + text + "' must match " + pattern);
    }
    return text;
  }

  /** A whole number within bounds, both included. */
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

  /** True or false. */
  public boolean bool() {
    if (node instanceof ScalarNode scalar && scalar.getTag().equals(Tag.BOOL)) {
      return Boolean.parseBoolean(scalar.getValue());
    }
    fault("must be true or false");
    return true;
  }

  /** One of some words; the first if it is none. */
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

  /** The elements of a list. */
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

  /** A mapping; without fields if the value is none. */
  public YamlMapping mapping() {
    return new YamlMapping(this, node, faults);
  }

  private boolean isText() {
    return node instanceof ScalarNode scalar && scalar.getTag().equals(Tag.STR);
  }
}
