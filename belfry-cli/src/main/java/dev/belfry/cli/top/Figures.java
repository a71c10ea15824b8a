package dev.belfry.cli.top;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Formats numbers for people, in a few characters. */
final class Figures {
  private static final String[] THOUSANDS = {"", "k", "M", "G", "T", "P", "E"};

  private Figures() {}

  /** Formats a count: 7, 4,711, 98,765, 1.23M. At most seven characters. */
  static String count(double value) {
    if (value < 100_000) {
      return String.format(Locale.ROOT, "%,d", Math.round(value));
    }
    int power = 0;
    double rest = value;
    while (rest >= 999.5 && power < THOUSANDS.length - 1) {
      rest /= 1000;
      power++;
    }
    return threeDigits(rest) + THOUSANDS[power];
  }

  /** Formats all digits, however many. */
  static String exact(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** Formats a latency: 850 ns, 4.21 µs, 18.3 ms, 2.50 s; - for none. At most seven characters. */
  static String latency(long nanos, boolean ascii) {
    if (nanos <= 0) {
      return "-";
    }
    if (nanos < 1000) {
      return nanos + " ns";
    }
    double value = nanos / 1e3;
    if (value < 999.5) {
      return threeDigits(value) + (ascii ? " us" : " µs");
    }
    value /= 1e3;
    return value < 999.5 ? threeDigits(value) + " ms" : threeDigits(value / 1e3) + " s";
  }

  /** Formats an age in its two largest units: 42s, 3m12s, 5h07m, 12d03h. */
  static String age(Duration age) {
    long seconds = Math.max(0, age.toSeconds());
    long days = TimeUnit.SECONDS.toDays(seconds);
    if (days > 0) {
      return "%dd%02dh".formatted(days, age.toHoursPart());
    }
    if (age.toHours() > 0) {
      return "%dh%02dm".formatted(age.toHours(), age.toMinutesPart());
    }
    return seconds >= 60
        ? "%dm%02ds".formatted(age.toMinutes(), age.toSecondsPart())
        : seconds + "s";
  }

  private static String threeDigits(double value) {
    String format = value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f";
    return String.format(Locale.ROOT, format, value);
  }
}
