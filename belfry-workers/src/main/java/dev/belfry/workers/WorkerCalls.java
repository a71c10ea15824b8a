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
 * come, and whoever takes it out decides what becomes of it; so it ends once. For any thread.
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

  /** Changed with the table locked, because it decides what may be in there. */
  private volatile WorkerState state = WorkerState.STARTING;

  private volatile int load;

  /**
   * The calls of a worker.
   *
   * @param capacity how many calls it has at most
   * @param attempts to how many workers a call is given at most
   */
  WorkerCalls(PooledWorker worker, Supervisor supervisor, int capacity, int attempts) {
    this.worker = worker;
    this.supervisor = supervisor;
    this.table = new CallTable(capacity);
    this.attempts = attempts;
  }

  /** Before the process is started. */
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

  /** How many calls there are. */
  int load() {
    return load;
  }

  /** Whether it would take a call just now. */
  boolean hasRoom() {
    return state == WorkerState.READY && load < table.capacity();
  }

  // In.

  /**
   * Takes a call if there is room. Waits until the way to the worker is free. A caller begins to
   * look for answers itself, if nobody else does, before the worker can answer: so the worker need
   * not wake anybody.
   *
   * @return whether the call is this worker's now, or has gone another way
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
      wantNotice(id); // even if nobody asks: waiting for room is pointless while answers lie unread
      return isSent(call, id, giveUpIfDone(call, id, send(call, id)));
    } catch (RuntimeException | Error e) {
      take(id); // or the worker would count as stuck with a call it never had
      throw e;
    }
  }

  /** Takes a call if there is room and no need to wait: the loop thread must not. */
  boolean offerAtOnce(Call call) {
    long id = isSmall(call) ? add(call) : 0;
    if (id == 0) {
      return false;
    }
    lookout().listen();
    return isSent(call, id, sendAtOnce(call, id));
  }

  /** Puts a call into the table; returns its id there, or 0 if it is not accepted. */
  private long add(Call call) {
    synchronized (table) {
      if (state != WorkerState.READY || table.isFull()) {
        return 0;
      }
      long id = table.add(call);
      load = table.size();
      call.place(worker, id); // with the lock: from now on others may take it and place it anew
      if (call.isNoticeWanted()) {
        table.wantNotice(id);
      }
      return id;
    }
  }

  /** What came of sending: if it failed, the call is taken back, unless somebody else did so. */
  private boolean isSent(Call call, long id, SendResult result) {
    if (result == SendResult.SENT || take(id) == null) {
      return true;
    }
    if (result == SendResult.TIMEOUT) {
      call.failOverdue();
    }
    if (isSmall(call)) { // of a larger one the worker may have got a part
      call.wasNotTried();
    }
    if (result == SendResult.OVER && !isUnwanted(call)) {
      change(WorkerState.READY, WorkerState.DYING); // its end has not been noticed yet
    }
    return call.isDone();
  }

  /**
   * Sends a small call and waits for its answer, if nobody else looks for answers just now. Sending
   * must not wait for room: a worker that waits for its answers to be read makes none.
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
      boolean _ = lookout().lookAndEnd(call); // whatever it says, the caller waits on by itself
    }
    return sent;
  }

  /** Sends a small call whose caller will come for the answer, so nobody need be told of it. */
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

  /** A call that has ended while it was sent: its worker heard of that too early, or not at all. */
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

  /** Whether it has ended, or the thread that makes it is not to wait any more. */
  private static boolean isUnwanted(Call call) {
    return call.isDone() || Thread.currentThread().isInterrupted();
  }

  /** Waits for a call without sleeping; false if the caller had better sleep. */
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

  /** Somebody has slept so long until a call had ended. */
  void slept(long nanos) {
    lookout().slept(nanos);
  }

  /** Somebody is about to sleep until a call has ended, or has been sent. */
  void wantNotice(long id) {
    synchronized (table) {
      table.wantNotice(id);
    }
    lookout().listen();
  }

  /** Takes answers that are there and nobody has come for, because somebody needs the room now. */
  void takeUnheard() {
    lookout().takeUnheard();
  }

  /** Has the loop fetch answers that nobody has come for, because somebody needs the room. */
  void fetchAnswers() {
    lookout().listen();
  }

  /** Called now and then: a started call that nobody comes for ends too. */
  void endOverdue() {
    List<Call> overdue;
    synchronized (table) {
      overdue = table.overdue();
    }
    overdue.forEach(Call::failOverdue);
  }

  // Out.

  /** Takes a call out; null if somebody else was first. */
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

  /** Nobody waits for a call any more. A worker that goes on with it counts as stuck. */
  void giveUp(long id) {
    if (isStillAt(id) && peer().isAttached()) {
      boolean told = cancel(id);
      wantNotice(id); // an answer that lies there unread would look as if the worker were stuck
      supervisor.watchStuck(worker, id, told);
    }
  }

  /** Tells the worker that nobody waits for a call, if there is room for that. */
  boolean cancel(long id) {
    return peer().send(MessageKind.CANCEL, id, 0, NO_BYTES, 0, 0) == SendResult.SENT;
  }

  boolean isStillAt(long id) {
    synchronized (table) {
      return table.contains(id);
    }
  }

  /** Whether somebody waits for another call that the worker was given before this one. */
  boolean hasWantedBefore(long id) {
    synchronized (table) {
      return table.isAnyWantedBefore(id);
    }
  }

  // What becomes of the worker, and so of its calls. On the loop thread.

  /** Changes the state if it is the expected one; says whether it did. */
  boolean change(WorkerState from, WorkerState to) {
    synchronized (table) {
      if (state != from) {
        return false;
      }
      state = to;
      return true;
    }
  }

  /** There is a witness of the worker's end: it gets no more calls. */
  void dying() {
    change(WorkerState.DYING);
  }

  private void change(WorkerState to) {
    synchronized (table) {
      state = to;
    }
  }

  /** Calls that others may do go to others; the rest may still get an answer. */
  void giveToOthers() {
    takeAll(call -> call.isDone() || mayBeTriedAgain(call)).stream()
        .filter(call -> !call.isDone())
        .forEach(supervisor::again);
  }

  private boolean mayBeTriedAgain(Call call) {
    return call.options.delivery() == Delivery.AT_LEAST_ONCE && call.attempts() < attempts;
  }

  /** The worker has ended, and all it had sent has been read. */
  void ended(Death how) {
    change(WorkerState.GONE);
    for (Call call : takeAll(_ -> true)) {
      if (call.isDone()) {
        continue; // it was given up
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

  /** The pool ends: there are no more calls, and the worker need not go on with those it has. */
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
