package dev.belfry.bench.files;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Reads through the JDK's channel, on this many threads. */
record ChannelReads(int threads) implements FileReads {

  @Override
  public long read(Path path, boolean direct, long nanos) throws Exception {
    var options = new HashSet<OpenOption>();
    options.add(StandardOpenOption.READ);
    if (direct) {
      options.add(direct());
    }
    long end = System.nanoTime() + nanos;
    try (FileChannel channel = FileChannel.open(path, options);
        ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      var reading = new ArrayList<Callable<Long>>();
      for (int i = 0; i < threads; i++) {
        int seed = i;
        reading.add(() -> read(channel, end, seed));
      }
      long count = 0;
      for (Future<Long> done : pool.invokeAll(reading)) {
        count += done.get();
      }
      return count;
    }
  }

  /**
   * By name, because the compiler warns of any other use, and that warning cannot be suppressed.
   */
  private static OpenOption direct() throws ReflectiveOperationException {
    Class<?> type = Class.forName("com.sun.nio.file.ExtendedOpenOption");
    return (OpenOption) Objects.requireNonNull(type.getField("DIRECT").get(null));
  }

  private static long read(FileChannel channel, long end, int seed) throws IOException {
    var random = new SplittableRandom(seed);
    ByteBuffer page = Arena.ofAuto().allocate(PAGE_BYTES, PAGE_BYTES).asByteBuffer();
    long pages = channel.size() / PAGE_BYTES;
    long count = 0;
    while (System.nanoTime() - end < 0) {
      if (channel.read(page.clear(), FileReads.randomPlace(random, pages)) != PAGE_BYTES) {
        throw new IllegalStateException("a page was cut short");
      }
      count++;
    }
    return count;
  }
}
