package dev.belfry.admin;

import java.time.Instant;
import java.util.List;

/**
 * A snapshot of a host.
 *
 * @param name its name
 * @param startedAt when it was started
 * @param workers its workers, in display order
 * @param callsPerSecond calls completed in the last second
 * @param finished calls that were answered, since the start
 * @param failed calls that ended without an answer, since the start
 * @param p50Micros the median latency of the calls of the last second
 * @param p99Micros the 99th percentile of the same
 * @param ringDepth messages that no worker has read yet
 * @param ringCapacity the most that the rings can hold
 * @param slotsUsed slots of shared memory in use
 * @param slots all slots
 * @param deaths workers that died unasked, since the start
 * @param waiting callers waiting for room
 * @param circuitOpen whether workers are no longer started because they keep dying
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
