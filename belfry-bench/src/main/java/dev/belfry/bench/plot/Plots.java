package dev.belfry.bench.plot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Draws the reports in a directory: one picture for each question that they answer. */
public final class Plots {
  private Plots() {}

  /**
   * Draws all {@code *.json}.
   *
   * @return the pictures
   * @throws IllegalArgumentException if there is nothing to draw
   */
  public static List<Path> draw(Path directory) throws IOException {
    List<JsonNode> entries = entries(directory);
    var drawn = new ArrayList<Path>();
    for (Question question : Question.values()) {
      List<Bar> bars =
          entries.stream()
              .filter(entry -> entry.path("bench").asString("").equals(question.bench))
              .filter(entry -> entry.path("metrics").has(question.metric))
              .map(entry -> bar(question, entry))
              .toList();
      if (!bars.isEmpty()) {
        Path file = directory.resolve(question.fileName());
        Files.writeString(file, new BarChart(question, bars).svg());
        drawn.add(file);
      }
    }
    if (drawn.isEmpty()) {
      throw new IllegalArgumentException(
          directory + " has no report of a benchmark; write one with --json=FILE.json");
    }
    return drawn;
  }

  private static List<JsonNode> entries(Path directory) throws IOException {
    var entries = new ArrayList<JsonNode>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(it -> it.toString().endsWith(".json")).sorted().toList()) {
        JsonMapper.shared().readTree(file).forEach(entries::add);
      }
    }
    return entries;
  }

  private static Bar bar(Question question, JsonNode entry) {
    Map<String, String> params = new LinkedHashMap<>();
    entry.path("params").forEachEntry((name, value) -> params.put(name, value.asString()));
    JsonNode metric = entry.path("metrics").path(question.metric);
    return new Bar(
        params,
        entry.path("contender").asString(),
        metric.path("median").asDouble() / question.divisor,
        metric.path("min").asDouble() / question.divisor,
        metric.path("max").asDouble() / question.divisor);
  }
}
