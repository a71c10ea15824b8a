package dev.belfry.workers;

import static dev.belfry.workers.Pools.call;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Base of tests whose workers start almost instantly. */
abstract class QuickWorkers {
  @TempDir static Path directory;
  static Path worker;

  final Pools.Told told = new Pools.Told();

  @BeforeAll
  static void compile() throws Exception {
    worker = CWorkers.example(directory);
  }

  final PoolOptions options() {
    return options(worker.toString());
  }

  final PoolOptions options(String... command) {
    return PoolOptions.of(command).workers(1).spares(0).listener(told);
  }

  /** A worker that runs a script first. */
  final PoolOptions after(String script) {
    return options("sh", "-c", script + "; exec \"$0\" \"$@\"", worker.toString());
  }

  static int pid(WorkerPool pool) throws Exception {
    return Integer.parseInt(call(pool, "pid", ""));
  }

  /** A zombie does not count: it only waits to be reaped. */
  static boolean isRunning(int pid) {
    try {
      return Pools.state(Path.of("/proc/" + pid)) != 'Z';
    } catch (IOException e) {
      return false; // it has ended, if only between open and read
    }
  }
}
