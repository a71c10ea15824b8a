package dev.belfry.bench.harness;

import dev.belfry.bench.harness.Placement.Distance;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Compares contenders under the same circumstances: median and spread of each metric, and the ratio
 * to each reference.
 *
 * @param metrics the metrics to show
 * @param references the contenders that the others are compared with
 */
public record ComparisonTable(List<Metric> metrics, List<String> references) {

  /** The lines of the table, with a title. */
  public List<String> lines(
      Measurements measurements, List<String> contenders, Map<String, Object> params) {
    List<String> present = contenders.stream().filter(measurements.contenders()::contains).toList();
    List<String> compared = references.stream().filter(present::contains).toList();
    var table = new Table(headings(compared));
    for (String contender : present) {
      if (!measurements.samples(contender, params).isEmpty()) {
        table.add(row(measurements, contender, params, compared));
      }
    }
    var lines = new ArrayList<String>();
    lines.add(title(measurements.bench(), params));
    lines.addAll(table.lines());
    placementNote(measurements, params).ifPresent(lines::add);
    return lines;
  }

  private static String title(String bench, Map<String, Object> params) {
    return params.entrySet().stream()
        .map(param -> param.getKey() + " " + param.getValue())
        .collect(Collectors.joining(", ", bench + ": ", ""));
  }

  private List<String> headings(List<String> compared) {
    var headings = new ArrayList<String>();
    headings.add("contender");
    for (Metric metric : metrics) {
      headings.add(metric.heading());
      headings.add("min .. max");
      for (String reference : compared) {
        headings.add("/ " + reference);
      }
    }
    return headings;
  }

  private List<String> row(
      Measurements measurements,
      String contender,
      Map<String, Object> params,
      List<String> compared) {
    var row = new ArrayList<String>();
    row.add(contender);
    for (Metric metric : metrics) {
      Optional<Summary> summary = measurements.summary(contender, params, metric.name());
      row.add(summary.map(s -> metric.show(s.median())).orElse("-"));
      row.add(summary.map(metric::showSpread).orElse("-"));
      for (String reference : compared) {
        row.add(
            measurements
                .ratio(contender, reference, params, metric.name())
                .map(ratio -> String.format(Locale.ROOT, "%.2f", ratio.median()))
                .orElse("-"));
      }
    }
    return row;
  }

  /** Notes which rounds were left out, or that placements are mixed. */
  private static Optional<String> placementNote(
      Measurements measurements, Map<String, Object> params) {
    Map<Distance, Integer> placements = measurements.placements(params);
    if (placements.size() <= 1) {
      return Optional.empty();
    }
    return Optional.of(
        measurements
                .counted(params)
                .map(distance -> "Counted are the samples with processors placed as " + distance)
                .orElse("Processors were moved during the rounds; all samples are counted")
            + ", of "
            + placements
            + ".");
  }
}
