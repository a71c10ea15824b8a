package dev.belfry.workers;

import dev.belfry.shm.MessageKind;
import dev.belfry.shm.Peer;
import dev.belfry.shm.SegmentConfig;
import dev.belfry.shm.SendResult;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The calls that a worker has. A call is in the table from before it is sent until its answer has
 * arrived. The thread that removes it decides its fate, so it ends once. Thread-safe.
 */
final class WorkerCalls {
  private static final byte[] NO_BYTES = new byte[0];

  private final PooledWorker worker;
  private final Supervisor supervisor;
  private final CallTable table;
  private final int attempts;

  private @Nullable Peer peer;
  private @Nullable Outgoing outgoing;
  private @Nullable Lookout lookout;

  /** Changed with the table locked, because it decides which calls may be in there. */
  private volatile WorkerState state = WorkerState.STARTING;

  private volatile int load;

  /**
   * The calls of a worker.
   *
   * @param capacity the most calls that it has at a time
   * @param attempts the most workers that a call is given to
   */
  WorkerCalls(PooledWorker worker, Supervisor supervisor, int capacity, int attempts) {
    this.worker = worker;
    this.supervisor = supervisor;
    this.table = new CallTable(capacity);
    this.attempts = attempts;
  }

  /** Called before the process is started. */
  void connect(Peer guest, SegmentConfig config) {
    peer = guest;
    outgoing = new Outgoing(guest, config.maxPayloadSize(), config.initialCredit());
    lookout = new Lookout(guest, table, supervisor::isRoomWanted);
  }

  private Peer peer() {
    return Objects.requireNonNull(peer);
  }

  private Outgoing outgoing() {
    return Objects.requireNonNull(outgoing);
  }

  private Lookout lookout() {
    return Objects.requireNonNull(lookout);
  }

  WorkerState state() {
    return state;
  }

  /** The number of calls in the table. */
  int load() {
    return load;
  }

  /** Whether the worker would take a call now. */
  boolean hasRoom() {
    return state == WorkerState.READY && load < table.capacity();
  }

  // Taking calls in.

  /**
   * Takes a call if there is room, waiting until it can be sent. A caller that is about to wait
   * takes the turn to receive, if it is free, before the worker can answer; so the worker need not
   * wake anyone.
   *
   * @return whether the worker has the call now, or another thread has ended it or given it
   *     elsewhere
   */
  boolean offer(Call call) {
    long id = add(call);
    if (id == 0) {
      return false;
    }
    try {
      if ((call.isMine() && sendAndLook(call, id)) || sendAndLeave(call, id)) {
        return true;
      }
      wantNotice(id); // in any case: no room comes while answers lie unread
      return isSent(call, id, giveUpIfDone(call, id, send(call, id)));
    } catch (RuntimeException | Error e) {
      take(id); // or the worker would count as stuck with a call it never got
      throw e;
    }
  }

  /** Takes a call if there is room and it can be sent without waiting. For the loop thread. */
  boolean offerAtOnce(Call call) {
    long id = isSmall(call) ? add(call) : 0;
    if (id == 0) {
      return false;
    }
    lookout().listen();
    return isSent(call, id, sendAtOnce(call, id));
  }

  /** Adds a call to the table; returns its id there, or 0 if it is not accepted. */
  private long add(Call call) {
    synchronized (table) {
      if (state != WorkerState.READY || table.isFull()) {
        return 0;
      }
      long id = table.add(call);
      load = table.size();
      call.place(worker, id); // under the lock: from now on another thread may move it
      if (call.isNoticeWanted()) {
        table.wantNotice(id);
      }
      return id;
    }
  }

  /**
   * Acts on the result of sending: if it failed, takes the call back, unless another thread was
   * first.
   */
  private boolean isSent(Call call, long id, SendResult result) {
    if (result == SendResult.SENT || isDueToDie(call, result) || take(id) == null) {
      return true;
    }
    if (result == SendResult.TIMEOUT) {
      call.failOverdue();
    }
    if (isSmall(call)) { // of a larger one, the worker may have received a part
      call.wasNotTried();
    }
    if (result == SendResult.OVER && !isUnwanted(call)) {
      change(WorkerState.READY, WorkerState.DYING); // its end has not been noticed yet
    }
    return call.isDone();
  }

  /**
   * Whether a worker has died of a part of this call, as enough others did: it is left to the
   * worker's end, which ends it too.
   */
  private boolean isDueToDie(Call call, SendResult result) {
    return result == SendResult.OVER
        && !isUnwanted(call)
        && !isSmall(call)
        && call.attempts() >= attempts;
  }

  /**
   * Sends a small call and waits for its answer, if no other thread has the turn to receive.
   * Sending must not wait for room: a worker that waits for its own answers to be read makes none.
   */
  private boolean sendAndLook(Call call, long id) {
    if (!isSmall(call) || !Carriers.tryKeep()) {
      return false;
    }
    try {
      return lookout().begin() && sendAndLookWithTurn(call, id);
    } finally {
      Carriers.letGo();
    }
  }

  private boolean sendAndLookWithTurn(Call call, long id) {
    boolean sent = false;
    try {
      sent = sendAtOnce(call, id) == SendResult.SENT;
    } finally {
      if (!sent) {
        lookout().end();
      }
    }
    if (sent) {
      boolean _ = lookout().lookAndEnd(call); // either way, the caller goes on in await()
    }
    return sent;
  }

  /** Sends a small call whose caller will come for the answer, so that no notice is needed. */
  private boolean sendAndLeave(Call call, long id) {
    return !call.isNoticeWanted() && isSmall(call) && sendAtOnce(call, id) == SendResult.SENT;
  }

  private boolean isSmall(Call call) {
    return outgoing().fits(Protocol.REQUEST_HEADER_BYTES + call.payload.length);
  }

  private SendResult sendAtOnce(Call call, long id) {
    byte[] header = Protocol.requestHeader(call.timeLeftMillis());
    byte[] payload = call.payload;
    SendResult result =
        peer().send(MessageKind.REQUEST, id, call.methodId, header, payload, 0, payload.length);
    return giveUpIfDone(call, id, result);
  }

  /**
   * Gives up a call that ended while it was being sent: its worker was told too early, or not at
   * all.
   */
  private SendResult giveUpIfDone(Call call, long id, SendResult result) {
    if (result == SendResult.SENT && call.isDone()) {
      giveUp(id);
    }
    return result;
  }

  private SendResult send(Call call, long id) {
    Outgoing out = outgoing();
    int timeLeft = call.timeLeftMillis();
    if (isSmall(call)) {
      byte[] bytes = Protocol.request(call.payload, timeLeft);
      return out.send(
          MessageKind.REQUEST, id, call.methodId, bytes, () -> isOver(call), call.deadlineNanos);
    }
    return out.sendInChunks(
        MessageKind.REQUEST,
        id,
        call.methodId,
        channel -> Protocol.request(channel, call.payload.length, timeLeft),
        call.payload,
        () -> isOver(call),
        call.deadlineNanos);
  }

  private boolean isOver(Call call) {
    return isUnwanted(call) || state.compareTo(WorkerState.DYING) >= 0;
  }

  /** Whether the call has ended, or the thread that sends it was interrupted. */
  private static boolean isUnwanted(Call call) {
    return call.isDone() || Thread.currentThread().isInterrupted();
  }

  /**
   * Waits for a call by receiving answers on this thread; false if the caller should park instead.
   */
  boolean await(Call call) {
    if (!Carriers.tryKeep()) {
      return false;
    }
    try {
      return lookout().await(call);
    } finally {
      Carriers.letGo();
    }
  }

  /** A caller has slept this long until its call ended. */
  void slept(long nanos) {
    lookout().slept(nanos);
  }

  /** Requests a notice when a call ends, for a caller about to sleep or to wait while sending. */
  void wantNotice(long id) {
    synchronized (table) {
      table.wantNotice(id);
    }
    lookout().listen();
  }

  /** Takes answers that have arrived unnoticed, because their room is needed now. */
  void takeUnheard() {
    lookout().takeUnheard();
  }

  /** Has the loop fetch answers that have arrived unnoticed, because their room is needed. */
  void fetchAnswers() {
    lookout().listen();
  }

  /** Ends overdue calls, including started ones for which no thread waits. Called once a second. */
  void endOverdue() {
    List<Call> overdue;
    synchronized (table) {
      overdue = table.overdue();
    }
    overdue.forEach(Call::failOverdue);
  }

  // Taking calls out.

  /** Removes a call; null if another thread was first. */
  @Nullable Call take(long id) {
    Call call;
    synchronized (table) {
      call = table.remove(id);
      load = table.size();
    }
    if (call != null) {
      supervisor.roomCame(worker);
    }
    return call;
  }

  /** Abandons a call. A worker that goes on with it counts as stuck. */
  void giveUp(long id) {
    if (isStillAt(id) && peer().isAttached()) {
      boolean told = cancel(id);
      wantNotice(id); // or an unread answer would make the worker look stuck
      supervisor.watchStuck(worker, id, told);
    }
  }

  /** Tells the worker that a call was abandoned; false if there is no room for the message. */
  boolean cancel(long id) {
    return peer().send(MessageKind.CANCEL, id, 0, NO_BYTES, 0, 0) == SendResult.SENT;
  }

  boolean isStillAt(long id) {
    synchronized (table) {
      return table.contains(id);
    }
  }

  /** Whether any call that the worker was given before this one is still wanted. */
  boolean hasWantedBefore(long id) {
    synchronized (table) {
      return table.isAnyWantedBefore(id);
    }
  }

  // The fate of the worker, and so of its calls. On the loop thread, except change and close.

  /** Changes the state if it is the expected one; returns whether it did. */
  boolean change(WorkerState from, WorkerState to) {
    synchronized (table) {
      if (state != from) {
        return false;
      }
      state = to;
      return true;
    }
  }

  /** A witness has reported the worker's end: it gets no more calls. */
  void dying() {
    change(WorkerState.DYING);
  }

  private void change(WorkerState to) {
    synchronized (table) {
      state = to;
    }
  }

  /** Gives the calls that may be tried again to other workers; the rest may still be answered. */
  void giveToOthers() {
    takeAll(call -> call.isDone() || mayBeTriedAgain(call)).stream()
        .filter(call -> !call.isDone())
        .forEach(supervisor::again);
  }

  private boolean mayBeTriedAgain(Call call) {
    return call.options.delivery() == Delivery.AT_LEAST_ONCE && call.attempts() < attempts;
  }

  /** The worker has ended, and everything it sent has been read. */
  void ended(Death how) {
    change(WorkerState.GONE);
    for (Call call : takeAll(_ -> true)) {
      if (call.isDone()) {
        continue; // it was abandoned
      }
      if (call.options.delivery() == Delivery.AT_MOST_ONCE) {
        call.fail(new WorkerDied(call.method, how));
      } else if (mayBeTriedAgain(call)) {
        supervisor.again(call);
      } else {
        supervisor.deadLetter(call, new DeadLetter(call.method, call.attempts(), how));
      }
    }
  }

  /** The pool closes: fails the calls, and tells the worker not to go on with them. */
  void close() {
    change(WorkerState.GONE);
    for (Call call : takeAll(_ -> true)) {
      if (call.fail(new PoolClosed())) {
        cancel(Objects.requireNonNull(call.place()).id());
      }
    }
  }

  private List<Call> takeAll(Predicate<Call> condition) {
    synchronized (table) {
      List<Call> taken = table.removeIf(condition);
      load = table.size();
      return taken;
    }
  }
}
