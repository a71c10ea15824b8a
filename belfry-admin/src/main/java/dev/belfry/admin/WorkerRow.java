package dev.belfry.admin;

/**
 * A worker at one moment.
 *
 * @param name what it is called
 * @param pid its process; 0 while there is none
 * @param state what it is at, in a word: {@code ready} and {@code spare} are shown as well, {@code
 *     starting} and {@code retiring} as on the way, anything else as trouble
 * @param inFlight calls it has and has not answered
 * @param finished calls it has answered
 * @param p50Micros what half of its calls of the last second took at most
 * @param p99Micros what 99 of 100 took at most
 * @param deaths how many workers before it in its place have died
 * @param ageMillis since when its process runs
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
