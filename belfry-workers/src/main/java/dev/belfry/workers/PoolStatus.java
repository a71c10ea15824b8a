package dev.belfry.workers;

import java.util.List;

/**
 * A snapshot of a pool. The numbers are read one after the other while the pool works, so they need
 * not match exactly.
 *
 * @param workers its processes
 * @param waiting how many callers wait for room
 * @param deaths how many workers have died
 * @param deathsInARow how many workers in a row died before they had finished a call
 * @param circuitOpen whether there were too many of those, so that no more are started
 * @param finished how many calls have got their answer
 * @param failed how many calls have ended without one
 * @param repeated how often a call was given to another worker because its worker had died
 * @param deadLetters how many calls were given up because each worker that had them died
 * @param callsPerSecond how many calls got their answer in the last whole second
 * @param latency how long those took
 * @param slotsUsed how many slots of shared memory hold payloads on their way
 * @param slots how many there are, those of the host and of the attached workers
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
   * @param pid its process; 0 if it is not known
   * @param state starting, ready, spare, retiring, dying or gone
   * @param inFlight how many calls it has
   * @param finished how many calls have got their answer from it
   * @param ageMillis how long ago it was started
   * @param latency how long those took in the last whole second
   * @param ringDepth how many messages it has been sent and has not read
   * @param ringCapacity how many there can be
   * @param deaths how many have died in its place before it
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
    /** Whether it gets calls. */
    public boolean isReady() {
      return state.equals("ready");
    }
  }
}
