package dev.belfry.cli.counters;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * The fields of a sample, in the order of their bytes: first those of the host, then those of each
 * worker. New fields go at the end of their part; a name never changes its meaning.
 */
enum Counter {
  SAMPLED_AT(Part.HOST, Type.INTEGER, "ns"),
  PERIOD(Part.HOST, Type.INTEGER, "ns"),
  PID(Part.HOST, Type.INTEGER, ""),
  STARTED_AT(Part.HOST, Type.INTEGER, "ms"),
  WORKERS(Part.HOST, Type.INTEGER, ""),
  FINISHED(Part.HOST, Type.INTEGER, "calls"),
  FAILED(Part.HOST, Type.INTEGER, "calls"),
  REPEATED(Part.HOST, Type.INTEGER, "calls"),
  DEAD_LETTERS(Part.HOST, Type.INTEGER, "calls"),
  CALLS_PER_SECOND(Part.HOST, Type.REAL, "calls/s"),
  LATENCY_P50(Part.HOST, Type.INTEGER, "ns"),
  LATENCY_P99(Part.HOST, Type.INTEGER, "ns"),
  LATENCY_MAX(Part.HOST, Type.INTEGER, "ns"),
  SLOTS_USED(Part.HOST, Type.INTEGER, "slots"),
  SLOTS(Part.HOST, Type.INTEGER, "slots"),
  WAITING(Part.HOST, Type.INTEGER, "callers"),
  DEATHS(Part.HOST, Type.INTEGER, "workers"),
  DEATHS_IN_A_ROW(Part.HOST, Type.INTEGER, "workers"),
  CIRCUIT_OPEN(Part.HOST, Type.INTEGER, ""),

  WORKER_NAME(Part.WORKER, Type.TEXT, ""),
  WORKER_STATE(Part.WORKER, Type.TEXT, ""),
  WORKER_PID(Part.WORKER, Type.INTEGER, ""),
  WORKER_AGE(Part.WORKER, Type.INTEGER, "ms"),
  WORKER_IN_FLIGHT(Part.WORKER, Type.INTEGER, "calls"),
  WORKER_FINISHED(Part.WORKER, Type.INTEGER, "calls"),
  WORKER_LATENCY_P50(Part.WORKER, Type.INTEGER, "ns"),
  WORKER_LATENCY_P99(Part.WORKER, Type.INTEGER, "ns"),
  WORKER_LATENCY_MAX(Part.WORKER, Type.INTEGER, "ns"),
  WORKER_RING_DEPTH(Part.WORKER, Type.INTEGER, "messages"),
  WORKER_RING_CAPACITY(Part.WORKER, Type.INTEGER, "messages"),
  WORKER_DEATHS(Part.WORKER, Type.INTEGER, "workers");

  /** The part of a sample that a field belongs to; the number is stored in the file. */
  enum Part {
    HOST(0),
    WORKER(1);

    final int number;

    Part(int number) {
      this.number = number;
    }

    List<Counter> counters() {
      return Arrays.stream(Counter.values()).filter(it -> it.part == this).toList();
    }

    /** Returns the size of this part in bytes. */
    int bytes() {
      return counters().stream().mapToInt(it -> it.type.bytes).sum();
    }
  }

  /** The type of a field; the number is stored in the file. */
  enum Type {
    /** A signed 64-bit integer. */
    INTEGER(1, Long.BYTES),
    /** An IEEE 754 binary64. */
    REAL(2, Double.BYTES),
    /** UTF-8, padded with zeros. */
    TEXT(3, 32);

    final int number;
    final int bytes;

    Type(int number, int bytes) {
      this.number = number;
      this.bytes = bytes;
    }
  }

  final Part part;
  final Type type;
  final String unit;

  private static final Map<Counter, Integer> OFFSETS = new EnumMap<>(Counter.class);

  static {
    for (Part part : Part.values()) {
      int next = 0;
      for (Counter counter : part.counters()) {
        OFFSETS.put(counter, next);
        next += counter.type.bytes;
      }
    }
  }

  Counter(Part part, Type type, String unit) {
    this.part = part;
    this.type = type;
    this.unit = unit;
  }

  /** Returns the field's name in the file. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the field's offset in its part, as this version writes it; a reader asks the file. */
  int offset() {
    return Objects.requireNonNull(OFFSETS.get(this));
  }
}
