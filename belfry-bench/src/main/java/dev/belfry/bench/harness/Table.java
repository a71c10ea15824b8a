package dev.belfry.bench.harness;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Text in columns, each as wide as needed; the first is left-aligned, the others right-aligned. */
public final class Table {
  private static final String GAP = "  ";

  private final List<List<String>> rows = new ArrayList<>();

  public Table(List<String> headings) {
    rows.add(List.copyOf(headings));
  }

  /** Adds a row with a cell for each heading. */
  public void add(List<String> cells) {
    if (cells.size() != rows.getFirst().size()) {
      throw new IllegalArgumentException(
          "a row of %d cells under %d headings".formatted(cells.size(), rows.getFirst().size()));
    }
    rows.add(List.copyOf(cells));
  }

  /** The lines, starting with the headings and a rule. */
  public List<String> lines() {
    int[] widths = new int[rows.getFirst().size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    var lines = new ArrayList<String>();
    for (List<String> row : rows) {
      lines.add(line(row, widths));
      if (lines.size() == 1) {
        int length = Arrays.stream(widths).sum() + GAP.length() * (widths.length - 1);
        lines.add("-".repeat(length));
      }
    }
    return lines;
  }

  private static String line(List<String> row, int[] widths) {
    var line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      String padding = " ".repeat(widths[i] - row.get(i).length());
      if (i == 0) {
        line.append(row.get(i)).append(padding);
      } else {
        line.append(GAP).append(padding).append(row.get(i));
      }
    }
    return line.toString().stripTrailing();
  }
}
