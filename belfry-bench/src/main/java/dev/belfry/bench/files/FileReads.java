package dev.belfry.bench.files;

import java.nio.file.Path;
import java.util.SplittableRandom;

/** Somebody who reads pages of a file in random order. */
interface FileReads {
  int PAGE_BYTES = 4096;

  /** How many reads are under way at once, of those who can. */
  int AT_ONCE = 32;

  /**
   * Reads for so long; how many pages that were.
   *
   * @param direct whether to pass the page cache by
   */
  long read(Path file, boolean direct, long nanos) throws Exception;

  /** Where a page begins, at random. */
  static long randomPlace(SplittableRandom random, long pages) {
    return random.nextLong(pages) * PAGE_BYTES;
  }
}
