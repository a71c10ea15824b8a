package dev.belfry.cli.config;

import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.path.NodePath;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The schema of the configuration; words its errors for people. */
public final class ConfigSchema {
  private static final String RESOURCE = "belfry.schema.json";

  private static final int MAX_SHOWN = 80;

  private final JsonNode source = JsonMapper.shared().readTree(text());
  private final Schema schema =
      SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(source);

  /** Returns the schema, in JSON. */
  public static String text() {
    try (InputStream resource = ConfigSchema.class.getResourceAsStream(RESOURCE)) {
      if (resource == null) {
        throw new IllegalStateException(RESOURCE + " is missing beside its class");
      }
      return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Validates a document and adds its faults. */
  void check(YamlTree tree, List<ConfigFault> faults) {
    for (Error error : schema.validate(tree.root())) {
      if (!isBehindAnother(error)) {
        String field = field(error);
        faults.add(new ConfigFault(tree.line(field), field, reason(error)));
      }
    }
  }

  /** Whether an error is about one alternative of a oneOf; the error of the oneOf says more. */
  private static boolean isBehindAnother(Error error) {
    return error.getEvaluationPath().contains("oneOf") && !error.getKeyword().equals("oneOf");
  }

  /** The field of an error: an unknown field itself, but the parent of a missing one. */
  private static String field(Error error) {
    String place = field(error.getInstanceLocation());
    return switch (error.getKeyword()) {
      case "additionalProperties", "propertyNames" -> join(place, error.getProperty());
      default -> place;
    };
  }

  private static String field(NodePath path) {
    String field = "";
    for (int i = 0; i < path.getNameCount(); i++) {
      Object element = path.getElement(i);
      field =
          element instanceof Integer ? field + "[" + element + "]" : join(field, path.getName(i));
    }
    return field;
  }

  private static String join(String place, String name) {
    return place.isEmpty() ? name : place + "." + name;
  }

  private String reason(Error error) {
    JsonNode wanted = error.getSchemaNode();
    JsonNode found = error.getInstanceNode();
    String value = found.isContainer() ? "this" : shortened(found.toString());
    return switch (error.getKeyword()) {
      case "additionalProperties" ->
          "there is no such field; there are " + fields(around(error.getSchemaLocation()));
      case "required" -> "lacks the field " + error.getProperty();
      case "oneOf" -> "needs one of command, java and builtin, and only one";
      case "not" -> "has both token_file and token_env: leave one out";
      case "type" -> {
        if (error.getInstanceLocation().getNameCount() == 0) { // the root: this may be any file
          yield "this is no configuration, which is fields with values, such as workers: {builtin: demo}";
        }
        String type = type(error.getSchemaLocation(), wanted.asString());
        yield found.isNull() ? "has no value: it must be " + type : value + " must be " + type;
      }
      case "enum" -> value + " must be one of " + words(wanted);
      case "minimum" -> value + " must be at least " + wanted;
      case "maximum" -> value + " must be at most " + wanted;
      case "minItems", "minLength" -> "must not be empty";
      case "pattern" -> value + " must be " + description(around(error.getSchemaLocation()));
      case "propertyNames" -> "this is not a valid name for an environment variable";
      default -> error.getMessage();
    };
  }

  /** Returns enough of a value to recognize it; it may be of any length. */
  private static String shortened(String value) {
    return value.length() <= MAX_SHOWN ? value : value.substring(0, MAX_SHOWN) + "...";
  }

  /** Returns the schema that contains a keyword. */
  private JsonNode around(SchemaLocation keyword) {
    return source.at(keyword.getFragment().getParent().toString());
  }

  private static String fields(JsonNode schema) {
    return String.join(", ", schema.path("properties").propertyNames());
  }

  private static String description(JsonNode schema) {
    return schema.path("description").asString("something else");
  }

  private String type(SchemaLocation keyword, String type) {
    if (around(keyword).has("pattern")) {
      return description(around(keyword));
    }
    return switch (type) {
      case "integer" -> "a whole number";
      case "string" -> "a text; put it into quotes if it looks like a number";
      case "array" -> "a list, such as [a, b]";
      case "object" -> "fields with values, or {} for none";
      default -> type;
    };
  }

  private static String words(JsonNode choices) {
    return StreamSupport.stream(choices.spliterator(), false)
        .map(JsonNode::asString)
        .collect(Collectors.joining(", "));
  }
}
