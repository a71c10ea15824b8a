package dev.belfry.cli.counters;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** A process that writes counters as fast as it can until it is killed. */
final class CountingHost {
  private CountingHost() {}

  /** Takes the file's path. */
  public static void main(String[] args) throws IOException {
    var turn = new AtomicInteger();
    try (var _ =
        CountersWriter.open(
            Path.of(args[0]), () -> Statuses.same(turn.incrementAndGet()), Duration.ofNanos(1))) {
      System.out.println("writing");
      System.in.read();
    }
  }
}
