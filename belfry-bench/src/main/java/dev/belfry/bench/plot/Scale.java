package dev.belfry.bench.plot;

import java.util.Locale;
import java.util.stream.DoubleStream;

/**
 * An axis from zero, with marks at round values.
 *
 * @param step the distance between marks: 1, 2 or 5 times a power of ten
 * @param end the last mark
 */
record Scale(double step, double end) {

  /** An axis that includes a value, with about this many marks. */
  static Scale upTo(double value, int marks) {
    double rough = Math.max(value, Double.MIN_NORMAL) / marks;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double step =
        DoubleStream.of(1, 2, 5, 10)
            .map(factor -> factor * power)
            .filter(candidate -> candidate >= rough)
            .findFirst()
            .orElse(10 * power);
    return new Scale(step, step * Math.ceil(value / step));
  }

  /** Formats a mark, with as many decimals as the step has. */
  String show(double tick) {
    int decimals = Math.max(0, (int) -Math.floor(Math.log10(step)));
    return String.format(Locale.ROOT, "%,." + decimals + "f", tick);
  }

  /** The marks. */
  double[] ticks() {
    return DoubleStream.iterate(0, tick -> tick <= end + step / 2, tick -> tick + step).toArray();
  }
}
