package dev.belfry.workers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The workers of a pool: those that take calls, those that stand by, and those that are starting or
 * ending. Unless noted otherwise, for the loop thread.
 */
final class Crew {
  private static final PooledWorker[] NOBODY = {};

  private final int wantedActive;
  private final Gate gate;

  /** How many workers have died in each position. */
  private final long[] deaths;

  private final List<WorkerProcess> processes = new ArrayList<>();
  private final List<PooledWorker> spares = new ArrayList<>();

  /** The workers that take calls; replaced as a whole, so that any thread may read it. */
  private volatile PooledWorker[] active = NOBODY;

  private volatile List<PooledWorker> all = List.of();

  /**
   * Creates an empty crew.
   *
   * @param wantedActive how many workers are to take calls
   * @param gate where callers wait for a worker
   */
  Crew(int wantedActive, int spares, Gate gate) {
    this.wantedActive = wantedActive;
    this.gate = gate;
    this.deaths = new long[wantedActive + spares];
  }

  // For any thread.

  PooledWorker[] active() {
    return active;
  }

  List<PooledWorker> all() {
    return all;
  }

  int wantedActive() {
    return wantedActive;
  }

  /** How many calls all workers together have. */
  int inFlight() {
    return all.stream().mapToInt(PooledWorker::load).sum();
  }

  /** Whether a worker takes calls, or will if all goes well. */
  boolean isOneComing() {
    return all.stream()
        .anyMatch(it -> it.state() == WorkerState.STARTING || it.state() == WorkerState.READY);
  }

  boolean isSpare(PooledWorker worker) {
    return worker.state() == WorkerState.READY
        && Arrays.stream(active).noneMatch(it -> it == worker);
  }

  // On the loop thread.

  /** Whether a spare, other than this worker, stands by to take over from it. */
  boolean hasSpareBeside(PooledWorker worker) {
    return spares.stream().anyMatch(it -> it != worker);
  }

  /** The longest-serving worker that is to be replaced and still serves. */
  Optional<WorkerProcess> nextToLeave() {
    return processes.stream()
        .filter(process -> process.unwanted && !process.leaving)
        .filter(process -> process.worker.state() == WorkerState.READY)
        .findFirst();
  }

  /** Whether there are fewer workers than wanted, counting those about to be started. */
  boolean hasRoom(int coming) {
    long wanted = processes.stream().filter(process -> !process.unwanted).count();
    return wanted + coming < deaths.length;
  }

  /** A position that is free, or held only by a worker that is to be replaced. */
  int freePosition() {
    return IntStream.range(0, deaths.length)
        .filter(
            position ->
                processes.stream()
                    .noneMatch(process -> process.position == position && !process.unwanted))
        .findFirst()
        .orElseThrow(); // there are as many positions as workers wanted
  }

  long deathsAt(int position) {
    return deaths[position];
  }

  void diedAt(int position) {
    deaths[position]++;
  }

  void add(WorkerProcess process) {
    processes.add(process);
    changed();
  }

  void remove(WorkerProcess process) {
    processes.remove(process);
    changed();
  }

  private void changed() {
    all = processes.stream().map(process -> process.worker).toList();
  }

  Optional<WorkerProcess> processOf(PooledWorker worker) {
    return processes.stream().filter(process -> process.worker == worker).findFirst();
  }

  /** A worker is ready: it takes calls at once, or becomes a spare. */
  void ready(PooledWorker worker) {
    if (active.length < wantedActive) {
      activate(worker);
    } else {
      spares.add(worker);
    }
  }

  private void activate(PooledWorker worker) {
    active = Stream.concat(Arrays.stream(active), Stream.of(worker)).toArray(PooledWorker[]::new);
    gate.changedForAll();
  }

  /** Withdraws a worker from those that take calls; a spare takes its place at once. */
  void withdraw(PooledWorker worker) {
    spares.remove(worker);
    int before = active.length;
    active = Arrays.stream(active).filter(it -> it != worker).toArray(PooledWorker[]::new);
    if (active.length < before && !spares.isEmpty()) {
      activate(spares.removeFirst());
    }
    gate.changedForAll();
  }
}
