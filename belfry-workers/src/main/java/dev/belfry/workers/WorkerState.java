package dev.belfry.workers;

/** How far a worker has got, in this order. */
enum WorkerState {
  STARTING,
  READY,
  /** Finishes its calls and then ends. */
  RETIRING,
  DYING,
  GONE
}
