package dev.belfry.bench.crash;

import dev.belfry.bench.harness.ContenderMain;
import dev.belfry.workers.Delivery;
import java.io.IOException;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * The process with the pool. Answers {@code kills N} with the figures of {@link #kills}, and {@code
 * soak SECONDS} with those of {@link #soak}, which goes on until the input ends.
 */
public final class CrashMain {
  private static final long KILL_EVERY_NANOS = 1_000_000_000;
  private static final int WARM_UP_MILLIS = 1_000;
  private static final int MAX_PAUSE_MILLIS = 200;

  private CrashMain() {}

  public static void main(String[] arguments) throws Exception {
    try (CrashHost host = CrashHost.open()) {
      ContenderMain.serve(
          question -> {
            String[] words = question.split(" ", -1);
            int number = Integer.parseInt(words[1]);
            return switch (words[0]) {
              case "kills" -> kills(host, number);
              case "soak" -> soak(host, number);
              default -> throw new IllegalArgumentException(question);
            };
          });
      host.stop();
    }
    System.exit(0);
  }

  /** Kills at random moments, each time with a warm spare ready. */
  private static String kills(CrashHost host, int count) throws IOException, InterruptedException {
    host.awaitSpare();
    host.start(CrashWorker.APPEND);
    Thread.sleep(WARM_UP_MILLIS);
    long largest = 0;
    var random = new Random(count);
    for (int i = 0; i < count; ) {
      host.awaitSpare();
      Thread.sleep(random.nextInt(MAX_PAUSE_MILLIS));
      long bytes = host.kill();
      largest = Math.max(largest, bytes);
      i += bytes > 0 ? 1 : 0;
    }
    host.awaitSpare();
    host.stop();
    host.check();
    return figures(host.tally(Delivery.AT_LEAST_ONCE), largest)
        + " "
        + figures(host.tally(Delivery.AT_MOST_ONCE), largest);
  }

  private static String figures(Tally tally, long largestWorker) {
    return line(
        tally.calls,
        tally.failed,
        tally.lost,
        tally.duplicates,
        tally.withoutEffect,
        tally.added.getTotalCount(),
        tally.added.getValueAtPercentile(50),
        tally.added.getValueAtPercentile(99),
        tally.added.getMaxValue(),
        largestWorker);
  }

  /** Full load for a while, with a kill each second. */
  private static String soak(CrashHost host, int seconds) throws IOException, InterruptedException {
    if (host.count() == 0) {
      host.awaitSpare();
      host.start(CrashWorker.ANSWER);
      Thread.sleep(WARM_UP_MILLIS);
    }
    long began = System.nanoTime();
    long before = host.count();
    long deathsBefore = host.deaths();
    for (long due = began + KILL_EVERY_NANOS;
        due - began <= seconds * KILL_EVERY_NANOS;
        due += KILL_EVERY_NANOS) {
      Thread.sleep(Math.max(0, (due - System.nanoTime()) / 1_000_000));
      host.kill();
    }
    long perSecond = (long) ((host.count() - before) * 1e9 / (System.nanoTime() - began));
    return line(
        perSecond,
        host.deaths() - deathsBefore,
        ProcessFigures.residentBytes(ProcessHandle.current().pid()),
        ProcessFigures.descriptors());
  }

  private static String line(long... figures) {
    return LongStream.of(figures)
        .mapToObj(figure -> String.format(Locale.ROOT, "%d", figure))
        .collect(Collectors.joining(" "));
  }
}
