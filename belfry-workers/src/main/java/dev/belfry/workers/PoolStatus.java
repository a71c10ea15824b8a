package dev.belfry.workers;

import java.util.List;

/**
 * A snapshot of a pool. The figures are read one after another while the pool works, so they need
 * not add up exactly.
 *
 * @param workers its workers
 * @param waiting how many callers wait for room
 * @param deaths how many workers have died
 * @param deathsInARow how many workers in a row died before they had served
 * @param circuitOpen whether those were too many, so that no more are started
 * @param finished how many calls have been answered
 * @param failed how many calls have ended without an answer
 * @param repeated how often a call was given to another worker because its own had died
 * @param deadLetters how many calls failed because every worker that had them died
 * @param callsPerSecond how many calls were answered in the last whole second
 * @param latency how long those took
 * @param slotsUsed how many slots of shared memory hold payloads in transit
 * @param slots how many slots there are, of the host and of all attached workers
 */
public record PoolStatus(
    List<WorkerStatus> workers,
    int waiting,
    long deaths,
    int deathsInARow,
    boolean circuitOpen,
    long finished,
    long failed,
    long repeated,
    long deadLetters,
    double callsPerSecond,
    Latency latency,
    int slotsUsed,
    int slots) {
  /** Copies the list. */
  public PoolStatus {
    workers = List.copyOf(workers);
  }

  /**
   * A snapshot of a worker.
   *
   * @param name its name
   * @param pid its process id; 0 if unknown
   * @param state starting, ready, spare, retiring, dying or gone
   * @param inFlight how many calls it has
   * @param finished how many calls it has answered successfully
   * @param ageMillis how long ago it was started
   * @param latency how long its calls took in the last whole second
   * @param ringDepth how many messages it has been sent and not yet read
   * @param ringCapacity the most messages that its ring can hold
   * @param deaths how many workers died in its position before it
   */
  public record WorkerStatus(
      String name,
      int pid,
      String state,
      int inFlight,
      long finished,
      long ageMillis,
      Latency latency,
      int ringDepth,
      int ringCapacity,
      long deaths) {
    /** Whether it takes calls; spares do not. */
    public boolean isReady() {
      return state.equals("ready");
    }
  }
}
