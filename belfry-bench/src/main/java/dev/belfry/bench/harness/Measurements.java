package dev.belfry.bench.harness;

import dev.belfry.bench.harness.Placement.Distance;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * All samples of a benchmark, and their statistics.
 *
 * <p>Contenders are compared round by round, because what disturbs one of them in a round most
 * likely disturbs both. Only rounds in which the processors were placed as in most rounds count; if
 * that would leave fewer than half, all count.
 */
public final class Measurements {
  private static final Comparator<Sample> BY_ROUND = Comparator.comparingInt(Sample::round);

  private final String bench;
  private final List<Sample> samples = new ArrayList<>();

  public Measurements(String bench) {
    this.bench = bench;
  }

  /** The benchmark's name. */
  public String bench() {
    return bench;
  }

  /** Adds a sample. */
  public void add(Sample sample) {
    samples.add(sample);
  }

  /** The contenders, in order of appearance. */
  public Set<String> contenders() {
    var names = new LinkedHashSet<String>();
    samples.stream().sorted(BY_ROUND).forEach(sample -> names.add(sample.contender()));
    return names;
  }

  /** The circumstances, in order of appearance. */
  public Set<Map<String, Object>> params() {
    var all = new LinkedHashSet<Map<String, Object>>();
    samples.forEach(sample -> all.add(sample.params()));
    return all;
  }

  /** All samples of a contender, including those that do not count. */
  public List<Sample> samples(String contender, Map<String, Object> params) {
    return samples.stream()
        .filter(s -> s.contender().equals(contender) && s.params().equals(params))
        .sorted(BY_ROUND)
        .toList();
  }

  /** The names of the metrics measured for a contender. */
  public Set<String> metrics(String contender, Map<String, Object> params) {
    var names = new LinkedHashSet<String>();
    samples(contender, params).forEach(sample -> names.addAll(sample.metrics().keySet()));
    return names;
  }

  /** The summary of a metric; empty if it was not measured. */
  public Optional<Summary> summary(String contender, Map<String, Object> params, String metric) {
    var values = values(contender, params, metric).values();
    return values.isEmpty() ? Optional.empty() : Optional.of(Summary.of(values));
  }

  /** The summary of a metric divided, round by round, by that of a reference. */
  public Optional<Summary> ratio(
      String contender, String reference, Map<String, Object> params, String metric) {
    Map<Integer, Double> own = values(contender, params, metric);
    Map<Integer, Double> others = values(reference, params, metric);
    var ratios = new ArrayList<Double>();
    own.forEach(
        (round, value) -> {
          Double other = others.get(round);
          if (other != null && other != 0) {
            ratios.add(value / other);
          }
        });
    return ratios.isEmpty() ? Optional.empty() : Optional.of(Summary.of(ratios));
  }

  /** The number of samples by placement, under the given circumstances. */
  public Map<Distance, Integer> placements(Map<String, Object> params) {
    var counts = new EnumMap<Distance, Integer>(Distance.class);
    samples.stream()
        .filter(sample -> sample.params().equals(params))
        .forEach(sample -> counts.merge(sample.placement().distance(), 1, Integer::sum));
    return counts;
  }

  /** The only placement that counts; empty if all do. */
  public Optional<Distance> counted(Map<String, Object> params) {
    Map<Distance, Integer> counts = placements(params);
    int all = counts.values().stream().mapToInt(Integer::intValue).sum();
    return counts.entrySet().stream()
        .filter(count -> count.getKey() != Distance.CHANGED)
        .filter(count -> count.getValue() * 2 >= all)
        .max(Map.Entry.comparingByValue())
        .map(Map.Entry::getKey);
  }

  /** The values that count, by round. */
  private Map<Integer, Double> values(String contender, Map<String, Object> params, String metric) {
    Optional<Distance> counted = counted(params);
    var values = new LinkedHashMap<Integer, Double>();
    for (Sample sample : samples(contender, params)) {
      Double value = sample.metrics().get(metric);
      if (value != null && counted.map(sample.placement().distance()::equals).orElse(true)) {
        values.put(sample.round(), value);
      }
    }
    return values;
  }
}
