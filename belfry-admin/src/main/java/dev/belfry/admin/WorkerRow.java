package dev.belfry.admin;

/**
 * A worker at one moment.
 *
 * @param name what it is called
 * @param pid its process; 0 while there is none
 * @param state its state, in a word: {@code ready} and {@code spare} are shown as healthy, {@code
 *     starting} and {@code retiring} as in transition, anything else as trouble
 * @param inFlight calls it has and has not answered
 * @param finished calls it has answered
 * @param p50Micros the most that half of its calls of the last second took
 * @param p99Micros the most that 99 of 100 took
 * @param deaths how many workers before it in its place have died
 * @param ageMillis how long its process has been running
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
