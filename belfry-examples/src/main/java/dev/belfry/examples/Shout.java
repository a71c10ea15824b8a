package dev.belfry.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.workers.JavaWorker;
import dev.belfry.workers.PoolOptions;
import dev.belfry.workers.Worker;
import dev.belfry.workers.WorkerPool;
import java.io.IOException;
import java.util.Locale;

/** Shouts in a process that may crash without harming this one. */
final class Shout {
  private Shout() {}

  // @start region="worker"
  /** What runs in the worker processes. */
  static final class Shouter {
    public static void main(String[] args) throws IOException {
      Worker.main(args)
          .on("shout", request -> request.text().toUpperCase(Locale.ROOT).getBytes(UTF_8))
          .run();
    }
  }

  // @end

  public static void main(String[] args) throws Exception {
    // @start region="pool"
    PoolOptions options = PoolOptions.of(JavaWorker.of(Shouter.class, "-Xmx64m")).workers(2);
    try (WorkerPool pool = WorkerPool.open(options)) {
      byte[] loud = pool.call("shout", "is anybody there?".getBytes(UTF_8));
      System.out.println(new String(loud, UTF_8));
    }
    // @end
  }
}
