package dev.belfry.bench.harness;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The results for machines: one array with an object {@code {bench, contender, params, metrics}}
 * for each contender and circumstance. A metric holds its summary over the samples that count, and
 * all samples in order of rounds; {@code placement} and {@code placementNanos} tell where the
 * processors were in each round.
 */
public final class JsonReport {
  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private JsonReport() {}

  /** Writes the file. */
  public static void write(Path file, Measurements measurements) {
    MAPPER.writeValue(file, entries(measurements));
  }

  static List<Map<String, Object>> entries(Measurements measurements) {
    var entries = new ArrayList<Map<String, Object>>();
    for (Map<String, Object> params : measurements.params()) {
      for (String contender : measurements.contenders()) {
        List<Sample> samples = measurements.samples(contender, params);
        if (!samples.isEmpty()) {
          var entry = new LinkedHashMap<String, Object>();
          entry.put("bench", measurements.bench());
          entry.put("contender", contender);
          entry.put("params", params);
          entry.put("metrics", metrics(measurements, contender, params, samples));
          entries.add(entry);
        }
      }
    }
    return entries;
  }

  private static Map<String, Object> metrics(
      Measurements measurements,
      String contender,
      Map<String, Object> params,
      List<Sample> samples) {
    var metrics = new LinkedHashMap<String, Object>();
    for (String name : measurements.metrics(contender, params)) {
      measurements
          .summary(contender, params, name)
          .ifPresent(summary -> metrics.put(name, metric(summary, name, samples)));
    }
    metrics.put("placement", samples.stream().map(s -> s.placement().distance().name()).toList());
    metrics.put(
        "placementNanos", samples.stream().map(s -> s.placement().roundTripNanos()).toList());
    return metrics;
  }

  private static Map<String, Object> metric(Summary summary, String name, List<Sample> samples) {
    var metric = new LinkedHashMap<String, Object>();
    metric.put("median", summary.median());
    metric.put("min", summary.min());
    metric.put("max", summary.max());
    metric.put("lowerQuartile", summary.lowerQuartile());
    metric.put("upperQuartile", summary.upperQuartile());
    metric.put("counted", summary.count());
    metric.put("samples", samples.stream().map(sample -> sample.metrics().get(name)).toList());
    return metric;
  }
}
