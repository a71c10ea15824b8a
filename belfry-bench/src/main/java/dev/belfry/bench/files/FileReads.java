package dev.belfry.bench.files;

import java.nio.file.Path;
import java.util.SplittableRandom;

/** Reads pages of a file in random order. */
interface FileReads {
  int PAGE_BYTES = 4096;

  /** How many reads are in flight at once, where that is possible. */
  int AT_ONCE = 32;

  /**
   * Reads for this long; returns the number of pages read.
   *
   * @param direct whether to bypass the page cache
   */
  long read(Path file, boolean direct, long nanos) throws Exception;

  /** The offset of a random page. */
  static long randomPlace(SplittableRandom random, long pages) {
    return random.nextLong(pages) * PAGE_BYTES;
  }
}
