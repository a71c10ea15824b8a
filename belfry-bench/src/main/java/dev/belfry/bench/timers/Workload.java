package dev.belfry.bench.timers;

import java.util.Arrays;

/** What is done with timers. */
enum Workload {
  /** Arm timers that are far away and cancel them. */
  ARM_CANCEL("arm+cancel"),
  /** Arm timers that are due at once, or nearly, and let them fire. */
  ARM_FIRE("arm+fire"),
  /** Arm and cancel among a million that stay pending. */
  MILLION_PENDING("million-pending"),
  /** Arm one timer, wait until it fires, see how late that was. */
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
