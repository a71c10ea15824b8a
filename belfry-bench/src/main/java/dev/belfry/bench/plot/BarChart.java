package dev.belfry.bench.plot;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Horizontal bars of medians with their spread, in one panel per circumstance, each with its own
 * scale from zero.
 *
 * @param question the question that they answer
 * @param bars at least one
 */
record BarChart(Question question, List<Bar> bars) {
  private static final int WIDTH = 760;
  private static final int LEFT = 190;
  private static final int RIGHT = 110;
  private static final int TITLE_HEIGHT = 56;
  private static final int HEAD_HEIGHT = 26;
  private static final int ROW_HEIGHT = 22;
  private static final int BAR_HEIGHT = 14;
  private static final int AXIS_HEIGHT = 34;
  private static final int TICKS = 5;

  private static final String STYLE =
      """
      svg { font: 13px system-ui, sans-serif; }
      .paper { fill: #ffffff; } text { fill: #1f2933; } .faint { fill: #5b6775; }
      .title { font-size: 17px; font-weight: 600; } .head { font-weight: 600; }
      .end { text-anchor: end; } .middle { text-anchor: middle; }
      .ours { fill: #2563c9; } .other { fill: #a3adba; }
      .grid { stroke: #e3e7ec; } .spread { stroke: #1f2933; stroke-width: 1.5; }
      @media (prefers-color-scheme: dark) {
        .paper { fill: #14181d; } text { fill: #e4e8ee; } .faint { fill: #9aa6b4; }
        .ours { fill: #6ea2ff; } .other { fill: #5c6875; }
        .grid { stroke: #2b323b; } .spread { stroke: #e4e8ee; }
      }
      """;

  String svg() {
    Map<Map<String, String>, List<Bar>> panels =
        bars.stream()
            .collect(Collectors.groupingBy(Bar::params, LinkedHashMap::new, Collectors.toList()));
    int height =
        TITLE_HEIGHT
            + panels.values().stream()
                .mapToInt(rows -> HEAD_HEIGHT + rows.size() * ROW_HEIGHT + AXIS_HEIGHT)
                .sum();
    var svg = new Svg(WIDTH, height, question.title, STYLE);
    svg.rectangle("paper", 0, 0, WIDTH, height);
    svg.text("title", 16, 26, question.title);
    svg.text(
        "faint", 16, 45, "Median and spread of the rounds; " + question.axis() + shared(panels));
    int top = TITLE_HEIGHT;
    for (Map.Entry<Map<String, String>, List<Bar>> panel : panels.entrySet()) {
      svg.text("head", 16, top + 16, label(panel.getKey(), panels));
      top = panel(svg, top + HEAD_HEIGHT, panel.getValue());
    }
    return svg.end();
  }

  /** Draws a panel; returns where the next one begins. */
  private int panel(Svg svg, int top, List<Bar> rows) {
    Scale scale = Scale.upTo(rows.stream().mapToDouble(Bar::max).max().orElseThrow(), TICKS);
    int bottom = top + rows.size() * ROW_HEIGHT;
    for (double tick : scale.ticks()) {
      int x = x(scale, tick);
      svg.line("grid", x, top, x, bottom);
      svg.text("faint middle", x, bottom + 15, scale.show(tick));
    }
    svg.text("faint end", WIDTH - 12, bottom + 15, question.unit);
    for (int i = 0; i < rows.size(); i++) {
      row(svg, scale, top + i * ROW_HEIGHT, rows.get(i));
    }
    return bottom + AXIS_HEIGHT;
  }

  private static void row(Svg svg, Scale scale, int top, Bar bar) {
    int middle = top + ROW_HEIGHT / 2;
    svg.text("end", LEFT - 8, middle + 4, bar.contender());
    svg.rectangle(
        bar.isOurs() ? "ours" : "other",
        LEFT,
        middle - BAR_HEIGHT / 2,
        Math.max(1, x(scale, bar.median()) - LEFT),
        BAR_HEIGHT);
    if (bar.max() > bar.min()) {
      svg.line("spread", x(scale, bar.min()), middle, x(scale, bar.max()), middle);
    }
    svg.text("", x(scale, Math.max(bar.median(), bar.max())) + 6, middle + 4, number(bar.median()));
  }

  private static int x(Scale scale, double value) {
    return LEFT + (int) Math.round(value / scale.end() * (WIDTH - LEFT - RIGHT));
  }

  /** What all panels have in common, which is said once. */
  private static String shared(Map<Map<String, String>, List<Bar>> panels) {
    String words =
        panels.keySet().iterator().next().entrySet().stream()
            .filter(param -> isShared(param, panels))
            .map(BarChart::words)
            .sorted()
            .collect(Collectors.joining(", "));
    return panels.size() == 1 || words.isEmpty() ? "" : "; " + words;
  }

  private static String label(
      Map<String, String> params, Map<Map<String, String>, List<Bar>> panels) {
    return params.entrySet().stream()
        .filter(param -> panels.size() == 1 || !isShared(param, panels))
        .map(BarChart::words)
        .sorted()
        .collect(Collectors.joining(", "));
  }

  private static boolean isShared(
      Map.Entry<String, String> param, Map<Map<String, String>, List<Bar>> panels) {
    return panels.keySet().stream()
        .allMatch(other -> param.getValue().equals(other.get(param.getKey())));
  }

  /** For example, {@code payloadBytes} and 64 become "payload bytes 64". */
  private static String words(Map.Entry<String, String> param) {
    return param.getKey().replaceAll("(?=\\p{Upper})", " ").toLowerCase(Locale.ROOT)
        + " "
        + param.getValue();
  }

  private static String number(double value) {
    String format = value >= 100 || value == 0 ? "%,.0f" : value >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, format, value);
  }
}
