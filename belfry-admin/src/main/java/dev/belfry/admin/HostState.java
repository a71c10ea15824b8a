package dev.belfry.admin;

import java.time.Instant;
import java.util.List;

/**
 * A host at one moment.
 *
 * @param name what it is called
 * @param startedAt when it was started
 * @param workers its workers, in the order to show them in
 * @param callsPerSecond how many calls ended in the last second
 * @param finished calls that ended with an answer, since the start
 * @param failed calls that ended without one, since the start
 * @param p50Micros the most that half of the calls of the last second took
 * @param p99Micros the most that 99 of 100 took
 * @param ringDepth messages to workers that no worker has read yet
 * @param ringCapacity how many there can be
 * @param slotsUsed slots of shared memory that hold something
 * @param slots how many there are
 * @param deaths workers that ended without being asked to, since the start
 * @param waiting callers that wait until there is room
 * @param circuitOpen whether workers are no longer started because they all die
 */
public record HostState(
    String name,
    Instant startedAt,
    List<WorkerRow> workers,
    double callsPerSecond,
    long finished,
    long failed,
    long p50Micros,
    long p99Micros,
    int ringDepth,
    int ringCapacity,
    int slotsUsed,
    int slots,
    long deaths,
    int waiting,
    boolean circuitOpen) {
  public HostState {
    workers = List.copyOf(workers);
  }
}
