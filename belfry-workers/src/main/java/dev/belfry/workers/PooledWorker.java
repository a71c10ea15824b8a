package dev.belfry.workers;

import dev.belfry.linux.ExitStatus;
import dev.belfry.shm.Message;
import dev.belfry.shm.MessageHandler;
import dev.belfry.shm.MessageKind;
import dev.belfry.shm.Peer;
import dev.belfry.shm.PeerListener;
import dev.belfry.shm.SegmentConfig;
import dev.belfry.shm.SendResult;
import dev.belfry.shm.Witness;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A worker process as its pool sees it: its messages, its start and its end. */
final class PooledWorker implements PeerListener, MessageHandler {
  private static final byte[] NO_BYTES = new byte[0];

  private final String name;
  private final Supervisor supervisor;
  private final WorkerCalls calls;
  private final long deathsBefore;
  private final LatencyMeter latencies = new LatencyMeter();
  private final long startNanos = System.nanoTime();

  private @Nullable Peer peer;
  private @Nullable Incoming incoming;
  private @Nullable Rehearsal rehearsal;

  /**
   * The ids of its methods, sorted: each call looks one up, and a set of objects would be slower.
   */
  private volatile long[] methods = {};

  /**
   * Answers of all kinds that calls got; {@code refusals} are those with which no call succeeded.
   */
  private final AtomicLong answers = new AtomicLong();

  private final AtomicLong refusals = new AtomicLong();
  private volatile long readyNanos;
  private volatile @Nullable String endReason;

  /**
   * Creates a worker that is yet to be started.
   *
   * @param deathsBefore how many workers died in its position before it
   */
  PooledWorker(String name, Supervisor supervisor, int capacity, int attempts, long deathsBefore) {
    this.name = name;
    this.supervisor = supervisor;
    this.calls = new WorkerCalls(this, supervisor, capacity, attempts);
    this.deathsBefore = deathsBefore;
  }

  /** Called before its process is started. */
  void connect(Peer guest, SegmentConfig config) {
    peer = guest;
    calls.connect(guest, config);
    incoming = new Incoming(guest);
    rehearsal = new Rehearsal(guest);
  }

  String name() {
    return name;
  }

  Peer peer() {
    return Objects.requireNonNull(peer);
  }

  /** The calls it has. */
  WorkerCalls calls() {
    return calls;
  }

  WorkerState state() {
    return calls.state();
  }

  int load() {
    return calls.load();
  }

  /** How many calls it has answered, including those whose method failed. */
  long answers() {
    return answers.get();
  }

  LatencyMeter latencies() {
    return latencies;
  }

  /** A snapshot. */
  PoolStatus.WorkerStatus status(boolean isSpare, long nowNanos) {
    long refused = refusals.get(); // read first, or it might exceed the answers
    return new PoolStatus.WorkerStatus(
        name,
        peer().pid().orElse(0),
        isSpare ? "spare" : state().name().toLowerCase(Locale.ROOT),
        load(),
        answers() - refused,
        TimeUnit.NANOSECONDS.toMillis(nowNanos - startNanos),
        latencies.last(),
        peer().backlog(),
        peer().ringCapacity(),
        deathsBefore);
  }

  /** When it became ready; 0 if it never did. */
  long readyNanos() {
    return readyNanos;
  }

  boolean has(long methodId) {
    return Arrays.binarySearch(methods, methodId) >= 0;
  }

  // Its messages.

  @Override
  public void onMessage(Peer from, Message message) {
    try {
      switch (message.kind()) {
        case RESPONSE -> response(message);
        case DATA, CLOSE, RESET -> Objects.requireNonNull(incoming).take(message);
        case REQUEST, CANCEL -> throw new MalformedMessage("a worker that calls its pool");
        case GOODBYE -> {} // its end is noticed anyway
      }
    } catch (MalformedMessage e) {
      end("it violated the protocol: " + e.getMessage());
    }
  }

  private void response(Message message) {
    if (message.id() == Protocol.HELLO) {
      hello(Protocol.parseHello(message.bytes(), message.length()));
      return;
    }
    if (state() == WorkerState.STARTING) {
      rehearse();
      return;
    }
    long id = message.id();
    Status status = Protocol.status(message.methodId());
    if ((message.methodId() & Protocol.ANSWER_IN_CHUNKS) == 0) {
      answered(id, status, message.toByteArray());
    } else {
      expect(id, status, Protocol.parseAnswerInChunks(message.bytes(), message.length()));
    }
  }

  private void expect(long id, Status status, Protocol.Header header) {
    Incoming payloads = Objects.requireNonNull(incoming);
    payloads.expect(
        id,
        header,
        payload -> {
          if (payload != null) {
            answered(id, status, payload);
          }
        });
    if (!calls.isStillAt(id)) {
      payloads.drop(id); // its caller no longer waits
    }
  }

  private void hello(List<String> names) {
    methods = names.stream().mapToLong(Protocol::methodId).sorted().toArray();
    rehearse();
  }

  /** Makes the next call of the rehearsal; after the last, the worker is ready. */
  private void rehearse() {
    if (Objects.requireNonNull(rehearsal).next()) {
      return;
    }
    if (calls.change(WorkerState.STARTING, WorkerState.READY)) {
      readyNanos = System.nanoTime();
      supervisor.ready(this);
    }
  }

  /** Ends a call. An answer to a call that is no longer here is dropped: no one waits for it. */
  private void answered(long id, Status status, byte[] payload) {
    Call call = calls.take(id);
    if (call == null) {
      return;
    }
    answers.setRelease(answers.getPlain() + 1); // single writer: one thread at a time receives
    if (status == Status.DONE && !call.isDone()) {
      latencies.record(System.nanoTime() - call.startNanos);
    } else {
      refusals.setRelease(refusals.getPlain() + 1);
    }
    switch (status) {
      case DONE -> call.succeed(payload);
      case UNKNOWN_METHOD -> call.fail(new UnknownMethod(call.method));
      case FAILED -> call.fail(new MethodFailed(new String(payload, StandardCharsets.UTF_8)));
      case TOO_LONG ->
          call.fail(
              new MethodFailed("the answer has more than %d bytes".formatted(Protocol.MAX_BYTES)));
      case CANCELLED -> call.failOverdue();
    }
    supervisor.answered(this);
  }

  // Its end. On the loop thread, except end and endsFor.

  /** Takes no more calls, and ends once it has none left. */
  void retire() {
    if (calls.change(WorkerState.READY, WorkerState.RETIRING)) {
      leaveIfIdle();
    }
  }

  /** Says goodbye to a retiring worker that has no calls left. */
  void leaveIfIdle() {
    if (state() != WorkerState.RETIRING || load() > 0) {
      return;
    }
    SendResult result = peer().send(MessageKind.GOODBYE, 0, 0, NO_BYTES, 0, 0);
    if (result == SendResult.SENT) {
      supervisor.toldToLeave(this);
    } else if (result != SendResult.OVER) {
      supervisor.soon(this::leaveIfIdle); // no room, or another sender waits for it
    }
  }

  /** Ends it, for a reason that is reported with its death. */
  void end(String reason) {
    endsFor(reason);
    peer().disconnect(reason);
  }

  /** Sets the reason that is reported with its death. */
  void endsFor(String reason) {
    endReason = reason;
  }

  /** Why the pool has ended it; null if it ended by itself. */
  @Nullable String endReason() {
    return endReason;
  }

  @Override
  public void onDying(Peer from, Witness witness) {
    calls.dying();
    supervisor.dying(this, witness);
    supervisor.afterThisTurn(calls::giveToOthers); // answers already in the ring count first
  }

  @Override
  public void onGone(Peer from, @Nullable ExitStatus status) {
    supervisor.gone(this, status);
  }

  @Override
  public void onStuck(Peer from) {
    end("stuck: it shows no sign of life");
  }

  @Override
  public String toString() {
    return name;
  }
}
