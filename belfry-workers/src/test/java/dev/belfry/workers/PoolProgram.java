package dev.belfry.workers;

/** A process with a pool of the given program; prints the process ids of its workers. */
final class PoolProgram {
  private PoolProgram() {}

  public static void main(String[] args) throws Exception {
    try (WorkerPool pool = WorkerPool.open(PoolOptions.of(args[0]).workers(2).spares(1))) {
      while (pool.status().workers().stream()
              .filter(it -> it.state().equals("ready") || it.state().equals("spare"))
              .count()
          < 3) {
        Thread.sleep(1);
      }
      pool.status().workers().forEach(worker -> System.out.println("worker " + worker.pid()));
      System.in.read();
    }
  }
}
