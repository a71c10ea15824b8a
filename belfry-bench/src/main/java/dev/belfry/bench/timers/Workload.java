package dev.belfry.bench.timers;

import java.util.Arrays;

/** What to do with timers. */
enum Workload {
  /** Arm far-away timers and cancel them. */
  ARM_CANCEL("arm+cancel"),
  /** Arm timers that are due at once, or nearly so, and let them fire. */
  ARM_FIRE("arm+fire"),
  /** Arm and cancel among a million pending timers. */
  MILLION_PENDING("million-pending"),
  /** Arm one timer, wait until it fires, and see how late it was. */
  LATENESS("lateness");

  /** The name in the tables. */
  final String label;

  Workload(String label) {
    this.label = label;
  }

  static Workload of(String label) {
    return Arrays.stream(values())
        .filter(workload -> workload.label.equals(label))
        .findAny()
        .orElseThrow();
  }
}
