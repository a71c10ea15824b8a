package dev.belfry.workers;

/** The states of a worker, in the order of its life. */
enum WorkerState {
  STARTING,
  READY,
  /** Finishes its calls, then ends. */
  RETIRING,
  DYING,
  GONE
}
