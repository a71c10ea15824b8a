package dev.belfry.admin;

/**
 * A snapshot of a worker.
 *
 * @param name its name
 * @param pid its process id; 0 while there is no process
 * @param state its state as one word: {@code ready} and {@code spare} are shown as healthy, {@code
 *     starting} and {@code retiring} as in transition, anything else as trouble
 * @param inFlight calls that it has not answered yet
 * @param finished calls that it has answered
 * @param p50Micros the median latency of its calls of the last second
 * @param p99Micros the 99th percentile of the same
 * @param deaths the number of its predecessors that died
 * @param ageMillis the age of its process
 */
public record WorkerRow(
    String name,
    int pid,
    String state,
    int inFlight,
    long finished,
    long p50Micros,
    long p99Micros,
    long deaths,
    long ageMillis) {}
