package dev.belfry.workers;

import org.jspecify.annotations.Nullable;

/** Gives calls to workers. Thread-safe. */
final class Dispatch {
  private final Supervisor supervisor;
  private final Crew crew;
  private final Gate gate;
  private volatile Refusal refusal = Refusal.NONE;

  /** Which calls get no worker any more. */
  private enum Refusal {
    NONE,
    /** Those that no worker has had yet. */
    NEW,
    ALL
  }

  Dispatch(Supervisor supervisor, Gate gate) {
    this.supervisor = supervisor;
    this.crew = supervisor.crew();
    this.gate = gate;
  }

  /** Refuses new calls. A call whose worker dies still moves to another. */
  void drain() {
    refuse(Refusal.NEW);
  }

  /** Refuses all calls. */
  void close() {
    refuse(Refusal.ALL);
  }

  private synchronized void refuse(Refusal which) {
    if (refusal.compareTo(which) < 0) {
      refusal = which;
      gate.changedForAll();
    }
  }

  private boolean isRefused(Call call) {
    return switch (refusal) {
      case NONE -> false;
      case NEW -> call.attempts() == 0;
      case ALL -> true;
    };
  }

  /**
   * Whether no call is at a worker or on its way to one. For the loop thread, where calls leave
   * workers that die: any other thread might look while a call is between two workers.
   */
  boolean isIdle() {
    return gate.waiting() == 0 && crew.inFlight() == 0;
  }

  /** The outcome of an attempt to give a call to a worker. */
  private enum Attempt {
    /** A worker has it now. */
    PLACED,
    /** It has ended, so that no worker need have it. */
    ENDED,
    /** No worker has room. */
    NO_ROOM
  }

  /** Gives a call to the least loaded worker, waiting for room if the call may. */
  void place(Call call) throws CallException, InterruptedException {
    Attempt attempt = tryPlace(call);
    if (attempt == Attempt.NO_ROOM && call.options.overload() == Overload.REFUSE) {
      for (PooledWorker worker : crew.active()) {
        worker.calls().takeUnheard(); // unread answers take up room
      }
      attempt = tryPlace(call);
      if (attempt == Attempt.NO_ROOM && crew.active().length > 0) {
        throw new PoolFull(crew.inFlight());
      }
    }
    if (attempt == Attempt.NO_ROOM) {
      gate.enter();
      awaitPlace(call);
    }
  }

  /** Waits for room, after the call has entered the gate. */
  private void awaitPlace(Call call) throws CallException, InterruptedException {
    boolean passes = false;
    Attempt attempt = Attempt.NO_ROOM;
    try {
      for (PooledWorker worker : crew.active()) {
        worker.calls().fetchAnswers(); // unread ones take up room
      }
      while ((attempt = tryPlace(call)) == Attempt.NO_ROOM) {
        if (!gate.await(call.deadlineNanos)) {
          throw DeadlinePassed.noRoom(call, crew.active().length > 0);
        }
        passes = true;
        call.hasWaited();
      }
    } finally {
      gate.leave();
      if (passes && attempt != Attempt.PLACED) {
        gate.roomForOne(); // hands on the room that was meant for this call
      }
    }
  }

  private Attempt tryPlace(Call call) throws CallException, InterruptedException {
    while (!call.isDone()) {
      if (isRefused(call)) {
        throw new PoolClosed();
      }
      PooledWorker[] workers = crew.active();
      CircuitOpen failure = workers.length == 0 ? supervisor.circuitOpen() : null;
      if (failure != null) {
        throw failure;
      }
      PooledWorker least = leastLoaded(workers, call);
      if (least == null) {
        return Attempt.NO_ROOM;
      }
      if (least.calls().offer(call)) {
        return Attempt.PLACED;
      }
      if (Thread.interrupted()) { // while it waited to send
        throw new InterruptedException();
      }
      // Another caller has taken this worker's last room, or the worker is ending: try the next.
    }
    return Attempt.ENDED;
  }

  private static @Nullable PooledWorker leastLoaded(PooledWorker[] workers, Call call)
      throws UnknownMethod {
    PooledWorker least = null;
    boolean known = workers.length == 0;
    for (PooledWorker worker : workers) {
      if (worker.has(call.methodId)) {
        known = true;
        boolean hasRoom = worker.calls().hasRoom();
        if (hasRoom && (least == null || worker.load() < least.load())) {
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
   * Gives a call to another worker after its own has died. Does so at once if possible, because
   * every thread switch is slow while the kernel clears away a process; otherwise on a thread that
   * may wait.
   */
  void again(Call call) {
    try {
      call.hasWaited();
      PooledWorker least = leastLoaded(crew.active(), call);
      if (least != null && least.calls().offerAtOnce(call)) {
        call.nudge();
      } else {
        againLater(call);
      }
    } catch (CallException e) {
      call.fail(e);
    }
  }

  private void againLater(Call call) {
    gate.enter(); // already here: a pool that drains would take a call nowhere for one that ended
    Thread.ofVirtual()
        .name("belfry-again")
        .start(
            () -> {
              try {
                call.hasWaited();
                awaitPlace(call); // whatever its overload policy: it was accepted before
                call.nudge();
              } catch (CallException e) {
                call.fail(e);
              } catch (InterruptedException e) {
                throw new AssertionError("nobody interrupts it", e);
              }
            });
  }
}
