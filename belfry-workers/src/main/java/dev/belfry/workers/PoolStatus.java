package dev.belfry.workers;

import java.util.List;

/**
 * How it goes with a pool.
 *
 * @param workers its processes
 * @param waiting how many callers wait for room
 * @param deaths how many workers have died
 * @param deathsInARow how many of the last died before they had done anything
 * @param circuitOpen whether that were too many, so that no more are started
 */
public record PoolStatus(
    List<WorkerStatus> workers, int waiting, long deaths, int deathsInARow, boolean circuitOpen) {
  /** Copies the list. */
  public PoolStatus {
    workers = List.copyOf(workers);
  }

  /**
   * How it goes with a worker.
   *
   * @param name its name
   * @param pid its process; 0 if it is not known
   * @param state starting, ready, spare, retiring, dying or gone
   * @param inFlight how many calls it has
   * @param finished how many it has answered
   * @param ageMillis how long ago it was started
   */
  public record WorkerStatus(
      String name, int pid, String state, int inFlight, long finished, long ageMillis) {}
}
