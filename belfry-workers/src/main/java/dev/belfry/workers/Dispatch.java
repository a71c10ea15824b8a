package dev.belfry.workers;

import org.jspecify.annotations.Nullable;

/** Gives calls to workers. For any thread. */
final class Dispatch {
  private final Supervisor supervisor;
  private final Crew crew;
  private final Gate gate;
  private volatile boolean closed;

  Dispatch(Supervisor supervisor, Gate gate) {
    this.supervisor = supervisor;
    this.crew = supervisor.crew();
    this.gate = gate;
  }

  /** Nobody calls any more; what is under way may still be given to another worker at once. */
  void close() {
    closed = true;
  }

  /** Gives a call to the worker that has least to do, waiting for room if it may. */
  void place(Call call) throws CallException, InterruptedException {
    if (tryPlace(call)) {
      return;
    }
    if (call.options.overload() == Overload.REFUSE && crew.active().length > 0) {
      throw new PoolFull(crew.inFlight());
    }
    gate.enter();
    for (PooledWorker worker : crew.active()) {
      worker.desk().fetchAnswers(); // those that lie there take up room
    }
    try {
      while (!tryPlace(call)) {
        if (!gate.await(call.deadlineNanos)) {
          throw new DeadlinePassed(call.method, call.options.deadline().toMillis());
        }
        call.hasWaited();
      }
    } finally {
      gate.leave();
    }
  }

  /** Whether the call is a worker's now, or has ended. */
  private boolean tryPlace(Call call) throws CallException {
    while (!call.isDone()) {
      if (closed) {
        throw new PoolClosed();
      }
      PooledWorker[] workers = crew.active();
      if (workers.length == 0 && supervisor.isCircuitOpen()) {
        throw new CircuitOpen(supervisor.deathsInARow());
      }
      PooledWorker least = leastLoaded(workers, call);
      if (least == null) {
        return false;
      }
      if (least.desk().offer(call)) {
        return true;
      }
      if (least.state() == WorkerState.READY) {
        return false; // another caller has taken the last room
      }
    }
    return true;
  }

  private static @Nullable PooledWorker leastLoaded(PooledWorker[] workers, Call call)
      throws UnknownMethod {
    PooledWorker least = null;
    boolean known = workers.length == 0;
    for (PooledWorker worker : workers) {
      if (worker.has(call.methodId)) {
        known = true;
        boolean isReady = worker.state() == WorkerState.READY;
        if (isReady && (least == null || worker.load() < least.load())) {
          least = worker;
        }
      }
    }
    if (!known) {
      throw new UnknownMethod(call.method);
    }
    return least;
  }

  /**
   * Gives a call to another worker, because its own has died: at once if that is possible, as each
   * change of threads takes long while a process is cleared away; else on a thread that may wait.
   */
  void again(Call call) {
    try {
      call.hasWaited();
      PooledWorker least = leastLoaded(crew.active(), call);
      if (least != null && least.desk().offerAtOnce(call)) {
        placedAgain(call);
      } else {
        againLater(call);
      }
    } catch (CallException e) {
      call.fail(e);
    }
  }

  private void placedAgain(Call call) {
    if (call.isDone()) {
      call.abandon(); // perhaps it was given up on the way
    } else {
      call.nudge();
    }
  }

  private void againLater(Call call) {
    Thread.ofVirtual()
        .name("belfry-again")
        .start(
            () -> {
              try {
                call.hasWaited();
                place(call);
                placedAgain(call);
              } catch (CallException e) {
                call.fail(e);
              } catch (InterruptedException e) {
                throw new AssertionError("nobody interrupts it", e);
              }
            });
  }
}
