package dev.belfry.bench.plot;

/** The question that a picture answers: one metric of one benchmark. */
enum Question {
  CALL_RATE("call", "callsPerSecond", "Calls and their answers", "calls/s", 1, true),
  CALL_LATENCY("call", "latencyP50Nanos", "Latency of a call, p50", "µs", 1e3, false),
  CRASH("crash", "addedP50Nanos", "A worker is killed: from there to the answer", "ms", 1e6, false),
  SOAK("crash", "callsPerSecond", "Full load with a kill each second", "calls/s", 1, true),
  DEATH("death", "noticeNanos", "From SIGKILL to the notice", "ms", 1e6, false),
  DOORBELL("doorbell", "latencyP50Nanos", "From a ring to the wake-up, p50", "µs", 1e3, false),
  ROUND_TRIP("ipc-rtt", "roundTripNanos", "To another process and back", "ns", 1, false),
  THROUGHPUT("ipc-throughput", "messagesPerSecond", "To another process", "million/s", 1e6, true),
  ECHO("echo", "messagesPerSecond", "TCP echo on one loop thread", "messages/s", 1, true),
  FILES("files", "readsPerSecond", "Reads of a file", "reads/s", 1, true),
  TIMER_RATE("timers", "operationsPerSecond", "Timers on a loop", "million/s", 1e6, true),
  TIMERS("timers", "latenessP99Nanos", "Lateness of a timer, p99", "µs", 1e3, false),
  SIGNAL("signal", "latencyP50Nanos", "From a signal to its handler, p50", "µs", 1e3, false);

  final String bench;
  final String metric;
  final String title;
  final String unit;

  /** Converts values to the unit. */
  final double divisor;

  private final boolean moreIsBetter;

  Question(
      String bench,
      String metric,
      String title,
      String unit,
      double divisor,
      boolean moreIsBetter) {
    this.bench = bench;
    this.metric = metric;
    this.title = title;
    this.unit = unit;
    this.divisor = divisor;
    this.moreIsBetter = moreIsBetter;
  }

  /** The label of the axis. */
  String axis() {
    return unit + (moreIsBetter ? ", more is better" : ", less is better");
  }

  String fileName() {
    return bench + "-" + metric + ".svg";
  }
}
