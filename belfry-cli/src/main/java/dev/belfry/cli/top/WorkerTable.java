package dev.belfry.cli.top;

import dev.belfry.workers.PoolStatus.WorkerStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** The workers of a host, one per line. */
final class WorkerTable {
  private static final int LEAST_NAME = 8;
  private static final int MAX_NAME = 32;

  private final Look look;
  private final History history;
  private final List<WorkerStatus> workers;
  private final int nameWidth;
  private final List<Column> columns;

  /** A column, shown only if the terminal has at least {@code fromColumns} columns. */
  private record Column(
      String title,
      int width,
      int fromColumns,
      Function<WorkerStatus, String> text,
      Function<WorkerStatus, Style> style) {}

  WorkerTable(Look look, History history) {
    this.look = look;
    this.history = history;
    this.workers = history.latest().pool().workers();
    this.nameWidth = Math.min(widest(LEAST_NAME, WorkerStatus::name), MAX_NAME);
    this.columns = fitting(columns());
  }

  private int widest(int least, Function<WorkerStatus, String> text) {
    return workers.stream().mapToInt(it -> text.apply(it).length()).reduce(least, Math::max);
  }

  /** Returns the columns that fit beside whole names; cut off, all names would look alike. */
  private List<Column> fitting(List<Column> all) {
    var fitting = new ArrayList<Column>();
    int room = look.columns() - 1 - nameWidth;
    for (Column column : all) {
      if (column.fromColumns <= look.columns()) {
        room -= gap() + column.width;
        if (room < 0) {
          break;
        }
        fitting.add(column);
      }
    }
    return fitting;
  }

  private int gap() {
    return look.columns() >= 100 ? 2 : 1;
  }

  private List<Column> columns() {
    return List.of(
        column("PID", widest(5, WorkerTable::pid), 0, WorkerTable::pid),
        new Column("STATE", 8, 0, WorkerStatus::state, it -> styleOf(it.state())),
        column("CALLS/S", 7, 0, this::rate),
        column("ANSWERED", 8, 110, it -> Figures.count((double) it.finished())),
        column("BUSY", 4, 0, it -> Integer.toString(it.inFlight())),
        column("P50", 7, 0, it -> Figures.latency(it.latency().p50Nanos(), look.ascii())),
        column("P99", 7, 0, it -> Figures.latency(it.latency().p99Nanos(), look.ascii())),
        column("MAX", 7, 110, it -> Figures.latency(it.latency().maxNanos(), look.ascii())),
        new Column(
            "RING", widest(7, WorkerTable::fullRing), 0, WorkerTable::ring, WorkerTable::ringStyle),
        new Column(
            "DEATHS",
            6,
            0,
            it -> Figures.count((double) it.deaths()),
            it -> it.deaths() > 0 ? Style.WATCH : Style.PLAIN),
        column("AGE", 6, 0, it -> Figures.age(Duration.ofMillis(it.ageMillis()))));
  }

  private static Column column(
      String title, int width, int fromColumns, Function<WorkerStatus, String> text) {
    return new Column(title, width, fromColumns, text, _ -> Style.PLAIN);
  }

  private String rate(WorkerStatus worker) {
    return history.rateOf(worker).isPresent()
        ? Figures.count(history.rateOf(worker).getAsDouble())
        : "-";
  }

  private static String pid(WorkerStatus worker) {
    return Integer.toString(worker.pid());
  }

  private static String ring(WorkerStatus worker) {
    return worker.ringDepth() + "/" + worker.ringCapacity();
  }

  private static String fullRing(WorkerStatus worker) {
    return worker.ringCapacity() + "/" + worker.ringCapacity();
  }

  private static Style ringStyle(WorkerStatus worker) {
    return worker.ringDepth() * 2 > worker.ringCapacity() ? Style.WATCH : Style.PLAIN;
  }

  private static Style styleOf(String state) {
    return switch (state) {
      case "ready" -> Style.GOOD;
      case "spare" -> Style.QUIET;
      case "starting", "retiring" -> Style.WATCH;
      default -> Style.BAD;
    };
  }

  /** Returns the table, with at most {@code most} lines. */
  List<String> lines(int most) {
    var lines = new ArrayList<String>();
    var title = new Line(look).add(" ").add(left("WORKER", nameWidth), Style.DIM);
    for (Column column : columns) {
      title.add(" ".repeat(gap())).add(aligned(column, column.title), Style.DIM);
    }
    lines.add(title.toString());
    int shown = workers.size() < most ? workers.size() : Math.max(0, most - 2);
    workers.stream().limit(shown).forEach(worker -> lines.add(line(worker)));
    if (shown < workers.size()) {
      lines.add(
          new Line(look)
              .add(" and %d more".formatted(workers.size() - shown), Style.DIM)
              .toString());
    }
    return lines;
  }

  private String line(WorkerStatus worker) {
    var line = new Line(look).add(" ").add(left(worker.name(), nameWidth), Style.BOLD);
    for (Column column : columns) {
      line.add(" ".repeat(gap()))
          .add(aligned(column, column.text.apply(worker)), column.style.apply(worker));
    }
    return line.toString();
  }

  private static String aligned(Column column, String text) {
    return column.title.equals("STATE")
        ? left(text, column.width)
        : " ".repeat(Math.max(0, column.width - text.length())) + text;
  }

  private static String left(String text, int width) {
    return text.length() > width
        ? text.substring(0, width)
        : text + " ".repeat(width - text.length());
  }
}
