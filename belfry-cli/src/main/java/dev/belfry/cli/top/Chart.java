package dev.belfry.cli.top;

import java.util.ArrayList;
import java.util.List;

/** A bar chart made of block characters, one bar for each value, the latest at the right. */
final class Chart {
  private static final String BLOCKS = " ▁▂▃▄▅▆▇█";
  private static final String ASCII = " _.-=+*%#";
  private static final int LEVELS = BLOCKS.length() - 1;

  private Chart() {}

  /**
   * Draws values. Zero is a line at the bottom; any larger value rises above it.
   *
   * @param values at most {@code width} values, oldest first
   * @param most the value that reaches the top
   * @return {@code height} lines of {@code width} characters, from top to bottom
   */
  static List<String> bars(List<Double> values, double most, int width, int height, boolean ascii) {
    String blocks = ascii ? ASCII : BLOCKS;
    var lines = new ArrayList<String>();
    for (int row = height - 1; row >= 0; row--) {
      var line = new StringBuilder(" ".repeat(width - values.size()));
      for (double value : values) {
        int filled = level(value, most, height) - row * LEVELS;
        line.append(blocks.charAt(Math.clamp(filled, 0, LEVELS)));
      }
      lines.add(line.toString());
    }
    return lines;
  }

  private static int level(double value, double most, int height) {
    return value <= 0 || most <= 0
        ? 1
        : Math.clamp(Math.round(value / most * LEVELS * height), 2, LEVELS * height);
  }

  /** Draws a horizontal bar that shows how much is used. */
  static String gauge(long used, long all, int width, boolean ascii) {
    int filled = all <= 0 ? 0 : Math.clamp((used * width + all - 1) / all, 0, width);
    return (ascii ? "#" : "█").repeat(filled) + (ascii ? "." : "░").repeat(width - filled);
  }
}
