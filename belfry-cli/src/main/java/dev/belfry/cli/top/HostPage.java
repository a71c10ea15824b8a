package dev.belfry.cli.top;

import dev.belfry.cli.counters.CountersSample;
import dev.belfry.cli.hosts.HostEntry;
import dev.belfry.workers.PoolStatus;
import dev.belfry.workers.PoolStatus.WorkerStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The state of a host, as lines of text. */
final class HostPage {
  private static final int LABEL = 11;
  private static final int GAUGE = 20;
  private static final int TALL_CHART = 8;

  /** With at least this many rows, sections are separated by empty lines. */
  private static final int ROOMY = 18;

  private final HostEntry host;
  private final Look look;
  private final History history;
  private final CountersSample sample;
  private final PoolStatus pool;

  HostPage(HostEntry host, Look look, History history) {
    this.host = host;
    this.look = look;
    this.history = history;
    this.sample = history.latest();
    this.pool = sample.pool();
  }

  /** Returns the page without charts, with as many lines as it takes. */
  List<String> still() {
    var lines = new ArrayList<String>();
    lines.add(title(false));
    lines.add("");
    for (Line line : List.of(rate(), latency(), calls())) {
      lines.add(line.toString());
    }
    lines.addAll(trouble());
    lines.add(memory().toString());
    lines.add("");
    lines.addAll(new WorkerTable(look, history).lines(Integer.MAX_VALUE));
    return lines;
  }

  /** Returns exactly as many lines as the terminal has rows, with charts as tall as fit. */
  List<String> live() {
    boolean roomy = look.rows() >= ROOMY;
    // Title, rate, latency, calls, memory, the head of the table and the last line.
    int room = look.rows() - 7 - trouble().size() - (roomy ? 4 : 0) - pool.workers().size();
    boolean two = room >= 2 * TALL_CHART;
    int height = Math.clamp(two ? room / 2 : room, 1, TALL_CHART);
    var lines = new ArrayList<String>();
    lines.add(title(true));
    space(lines, roomy);
    lines.add(rate().toString());
    lines.addAll(chart(history.rates(), height));
    space(lines, roomy);
    lines.add((two ? mostLatency(latency()) : latency()).toString());
    if (two) {
      lines.addAll(chart(history.latencies(), height));
      lines.add("");
    }
    lines.add(calls().toString());
    lines.addAll(trouble());
    lines.add(memory().toString());
    space(lines, roomy);
    lines.addAll(new WorkerTable(look, history).lines(look.rows() - lines.size() - 1));
    while (lines.size() < look.rows() - 1) {
      lines.add("");
    }
    lines.subList(Math.max(0, look.rows() - 1), lines.size()).clear();
    lines.add(new Line(look).add(" q", Style.BOLD).add(" quits", Style.DIM).toString());
    return lines;
  }

  private static void space(List<String> lines, boolean roomy) {
    if (roomy) {
      lines.add("");
    }
  }

  private String title(boolean bar) {
    Duration up = Duration.between(host.startedAt(), Instant.now());
    String left = " %s  pid %d  up %s ".formatted(host.name(), host.pid(), Figures.age(up));
    var line = new Line(look).add(left, bar ? Style.TITLE : Style.BOLD);
    Duration age = sample.age();
    if (sample.isStale()) {
      return line.add(" ")
          .add(
              " STALE for %s: the host hangs or is stopped ".formatted(Figures.age(age)),
              Style.ALARM)
          .toString();
    }
    return line.right("sampled %.1f s ago ".formatted(age.toMillis() / 1000.0), Style.DIM)
        .toString();
  }

  private Line rate() {
    var line = label("calls/s").add(Figures.exact(Math.round(pool.callsPerSecond())), Style.BOLD);
    List<Double> shown = visible(history.rates());
    return shown.size() > 1
        ? line.right("most %s in %s ".formatted(Figures.count(most(shown)), span(shown)), Style.DIM)
        : line;
  }

  private Line mostLatency(Line line) {
    List<Double> shown = visible(history.latencies());
    String most = Figures.latency(Math.round(most(shown)), look.ascii());
    return line.right("p99 below, most %s in %s ".formatted(most, span(shown)), Style.DIM);
  }

  private String span(List<Double> shown) {
    return Figures.age(sample.period().multipliedBy(shown.size()));
  }

  /** Returns the latest values, as many as fit in a chart. */
  private List<Double> visible(List<Double> values) {
    return values.subList(Math.max(0, values.size() - chartWidth()), values.size());
  }

  private int chartWidth() {
    return Math.max(1, look.columns() - 2);
  }

  private static double most(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).max().orElse(0);
  }

  private List<String> chart(List<Double> values, int height) {
    List<Double> shown = visible(values);
    return Chart.bars(shown, most(shown), chartWidth(), height, look.ascii()).stream()
        .map(bars -> new Line(look).add(" ").add(bars, Style.QUIET).toString())
        .toList();
  }

  private Line latency() {
    return label("latency")
        .add("p50 ", Style.DIM)
        .add(Figures.latency(pool.latency().p50Nanos(), look.ascii()), Style.BOLD)
        .add("   p99 ", Style.DIM)
        .add(Figures.latency(pool.latency().p99Nanos(), look.ascii()), Style.BOLD)
        .add("   max ", Style.DIM)
        .add(Figures.latency(pool.latency().maxNanos(), look.ascii()), Style.BOLD);
  }

  private Line calls() {
    var line = label("calls").add(Figures.exact(pool.finished()) + " answered   ");
    count(line, pool.failed(), "failed");
    count(line, pool.repeated(), "repeated");
    count(line, pool.deadLetters(), "dead letters");
    return line;
  }

  /** Returns the line about the pool, and a second one with a remedy if the circuit is open. */
  private List<String> trouble() {
    var line = label("pool");
    count(line, pool.deaths(), pool.deaths() == 1 ? "death" : "deaths");
    count(line, pool.waiting(), "waiting");
    if (!pool.circuitOpen()) {
      return List.of(line.add("circuit closed").toString());
    }
    line.add(" CIRCUIT OPEN after %d deaths in a row ".formatted(pool.deathsInARow()), Style.ALARM);
    String wayOut = "to start workers again: belfry signal %d USR2".formatted(host.pid());
    return List.of(line.toString(), label("").add(wayOut, Style.WATCH).toString());
  }

  /** Adds a count that is highlighted unless it is zero. */
  private static void count(Line line, long value, String what) {
    line.add(Figures.exact(value) + " " + what, value > 0 ? Style.WATCH : Style.PLAIN).add("   ");
  }

  private Line memory() {
    int depth = pool.workers().stream().mapToInt(WorkerStatus::ringDepth).sum();
    int capacity = pool.workers().stream().mapToInt(WorkerStatus::ringCapacity).sum();
    return label("slots")
        .add(Chart.gauge(pool.slotsUsed(), pool.slots(), GAUGE, look.ascii()), Style.QUIET)
        .add(" %d of %d".formatted(pool.slotsUsed(), pool.slots()))
        .add("   rings ", Style.DIM)
        .add(Chart.gauge(depth, capacity, GAUGE, look.ascii()), Style.QUIET)
        .add(" %d of %d".formatted(depth, capacity));
  }

  private Line label(String text) {
    return new Line(look).add(" " + text, Style.DIM).to(LABEL);
  }
}
