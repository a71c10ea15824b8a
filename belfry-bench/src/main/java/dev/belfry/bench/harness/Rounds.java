package dev.belfry.bench.harness;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Measures every contender once under every circumstance in each round. For one circumstance all
 * contenders follow one another, so that what is compared lies close together in time. Their order
 * rotates by one each round, so that none always comes first. The placement of the processors is
 * probed before and after each such group.
 *
 * @param contenders the contenders
 * @param label a contender's name
 * @param circumstances under which they are measured
 * @param params a circumstance as it appears in the results
 * @param <C> the type of a contender
 * @param <P> the type of a circumstance
 */
public record Rounds<C, P>(
    List<C> contenders,
    Function<C, String> label,
    List<P> circumstances,
    Function<P, Map<String, Object>> params) {

  /** Measures once. */
  @FunctionalInterface
  public interface Measuring<C, P> {
    /** The metrics by name; none if the contender does not take part. */
    Map<String, Double> measure(C contender, P circumstance) throws IOException;
  }

  /** Runs this many rounds. */
  public void run(int rounds, Measurements into, Progress progress, Measuring<C, P> measuring)
      throws IOException {
    PlacementProbe.warmUp();
    for (int round = 0; round < rounds; round++) {
      for (P circumstance : circumstances) {
        Map<String, Object> shown = params.apply(circumstance);
        var samples = new ArrayList<Sample>();
        Placement before = PlacementProbe.look();
        for (C contender : order(contenders, round)) {
          String name = label.apply(contender);
          progress.step("round %d of %d, %s, %s".formatted(round + 1, rounds, shown, name));
          Map<String, Double> metrics = measuring.measure(contender, circumstance);
          if (!metrics.isEmpty()) {
            samples.add(new Sample(round, name, shown, metrics, before));
          }
        }
        Placement placement = before.until(PlacementProbe.look());
        samples.forEach(sample -> into.add(sample.placed(placement)));
      }
    }
  }

  /** The number of steps of the progress line. */
  public int steps(int rounds) {
    return rounds * circumstances.size() * contenders.size();
  }

  /** The contenders in the order of a round. */
  static <T> List<T> order(List<T> contenders, int round) {
    var order = new ArrayList<>(contenders);
    Collections.rotate(order, -round);
    return order;
  }
}
