package dev.belfry.bench.call;

import dev.belfry.bench.harness.JavaCommand;
import dev.belfry.workers.PoolOptions;
import dev.belfry.workers.Request;
import dev.belfry.workers.Worker;
import dev.belfry.workers.WorkerPool;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Calls through a pool of one worker.
 *
 * @param pool the pool
 * @param virtual whether the callers are virtual threads
 */
record PoolCalling(WorkerPool pool, boolean virtual) implements Calling {
  static final String METHOD = "echo";
  private static final Duration START_LIMIT = Duration.ofSeconds(30);

  /**
   * Starts the worker.
   *
   * @param platformThreads the number of platform threads that run calls; 0 for virtual threads
   */
  static WorkerPool open(int platformThreads) throws IOException, InterruptedException {
    List<String> command =
        JavaCommand.of(List.of(), EchoWorker.class, String.valueOf(platformThreads));
    WorkerPool pool = WorkerPool.open(PoolOptions.of(command).workers(1).spares(0));
    if (!pool.awaitReady(START_LIMIT)) {
      pool.close();
      throw new IOException("the worker does not start");
    }
    return pool;
  }

  @Override
  public Caller caller(int bytes) {
    return payload -> pool.call(METHOD, payload);
  }

  @Override
  public ExecutorService threads(int count) {
    return virtual ? Executors.newVirtualThreadPerTaskExecutor() : Calling.super.threads(count);
  }

  @Override
  public void close() throws IOException {
    pool.close();
  }

  /** The worker. */
  static final class EchoWorker {
    private EchoWorker() {}

    public static void main(String[] arguments) throws IOException {
      Worker worker = Worker.main(arguments).on(METHOD, Request::payload);
      int platformThreads = Integer.parseInt(arguments[0]);
      if (platformThreads > 0) {
        worker.onPlatformThreads(platformThreads);
      }
      worker.run();
    }
  }
}
