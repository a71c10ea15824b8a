package dev.belfry.bench.crash;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;

/** The lines that workers have written, one each time they carried out a call. */
final class Effects {
  private final BitSet there = new BitSet();
  private final BitSet twice = new BitSet();

  private Effects() {}

  static Effects read(Path file) throws IOException {
    var effects = new Effects();
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      String line;
      while ((line = lines.readLine()) != null) {
        int number = Integer.parseInt(line);
        effects.twice.set(number, effects.twice.get(number) || effects.there.get(number));
        effects.there.set(number);
      }
    }
    return effects;
  }

  boolean isThere(int number) {
    return there.get(number);
  }

  boolean isTwice(int number) {
    return twice.get(number);
  }
}
