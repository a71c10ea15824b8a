package dev.belfry.workers;

import dev.belfry.linux.ExitStatus;
import dev.belfry.shm.Channel;
import dev.belfry.shm.Message;
import dev.belfry.shm.MessageHandler;
import dev.belfry.shm.MessageKind;
import dev.belfry.shm.Peer;
import dev.belfry.shm.PeerListener;
import dev.belfry.shm.SegmentConfig;
import dev.belfry.shm.SendResult;
import dev.belfry.shm.Witness;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A worker process as its pool sees it: the calls it has, and what becomes of them. A call is in
 * the table from before it is sent until its answer has come, and whoever takes it out decides how
 * it goes on; so it ends once.
 */
final class PooledWorker implements PeerListener, MessageHandler {
  private static final byte[] NO_BYTES = new byte[0];

  enum State {
    STARTING,
    READY,
    /** Finishes its calls and then ends. */
    RETIRING,
    DYING,
    GONE
  }

  private final String name;
  private final Supervisor supervisor;
  private final CallTable table;
  private final int attempts;
  private final long deathsBefore;
  private final LatencyMeter latencies = new LatencyMeter();
  private final long startNanos = System.nanoTime();

  private @Nullable Peer peer;
  private @Nullable Outgoing outgoing;
  private @Nullable Incoming incoming;
  private @Nullable Lookout lookout;
  private volatile Set<Long> methods = Set.of();
  private volatile State state = State.STARTING;
  private volatile int load;
  private final AtomicLong finished = new AtomicLong();
  private volatile long readyNanos;
  private @Nullable Death death;

  /**
   * @param deathsBefore how many died in its place before it
   */
  PooledWorker(String name, Supervisor supervisor, int capacity, int attempts, long deathsBefore) {
    this.name = name;
    this.supervisor = supervisor;
    this.table = new CallTable(capacity);
    this.attempts = attempts;
    this.deathsBefore = deathsBefore;
  }

  /** Before its process is started. */
  void connect(Peer guest, SegmentConfig config) {
    peer = guest;
    outgoing = new Outgoing(guest, config.maxPayloadSize(), config.initialCredit());
    incoming = new Incoming(guest::channelOf);
    lookout = new Lookout(guest, table, this);
  }

  String name() {
    return name;
  }

  Peer peer() {
    return Objects.requireNonNull(peer);
  }

  private Lookout lookout() {
    return Objects.requireNonNull(lookout);
  }

  State state() {
    return state;
  }

  int load() {
    return load;
  }

  long finished() {
    return finished.get();
  }

  LatencyMeter latencies() {
    return latencies;
  }

  /** How it goes. */
  PoolStatus.WorkerStatus status(boolean isSpare, long nowNanos) {
    return new PoolStatus.WorkerStatus(
        name,
        peer().pid().orElse(0),
        isSpare ? "spare" : state.name().toLowerCase(Locale.ROOT),
        load,
        finished(),
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
    return methods.contains(methodId);
  }

  // Calls.

  /**
   * Takes a call if there is room. Waits for the way to the worker to be free. A caller on a
   * platform thread takes it on itself to look for answers, if nobody else does, before the worker
   * can answer: so the worker need not wake anybody.
   *
   * @return whether the call is this worker's now, or has ended
   */
  boolean offer(Call call) {
    long id;
    synchronized (this) {
      if (state != State.READY || table.isFull()) {
        return false;
      }
      id = table.add(call);
      load = table.size();
    }
    call.attempts++;
    call.place(this, id);
    if (sendAndLook(call, id)) {
      return true;
    }
    lookout().listen();
    SendResult result = send(call, id);
    if (result == SendResult.SENT) {
      sent(id);
      return true;
    }
    take(id);
    if (result == SendResult.TIMEOUT) {
      call.failOverdue();
    }
    return call.isDone(); // else the worker is at its end, and has not got the whole call
  }

  /**
   * Sends a small call and waits for its answer, if nobody else looks for answers just now. It must
   * not wait for room: a worker that waits until its answers are read makes none.
   */
  private boolean sendAndLook(Call call, long id) {
    if (!call.mayLook() || !isSmall(call) || !lookout().begin()) {
      return false;
    }
    try {
      byte[] bytes = Protocol.request(call.payload, call.timeLeftMillis());
      SendResult result =
          peer().send(MessageKind.REQUEST, id, call.methodId, bytes, 0, bytes.length);
      if (result != SendResult.SENT) {
        return false;
      }
      sent(id);
      lookout().look(call, call.startNanos);
      return true;
    } finally {
      lookout().end();
    }
  }

  private boolean isSmall(Call call) {
    return Objects.requireNonNull(outgoing)
        .fits(Protocol.REQUEST_HEADER_BYTES + call.payload.length);
  }

  private SendResult send(Call call, long id) {
    Outgoing out = Objects.requireNonNull(outgoing);
    int timeLeft = call.timeLeftMillis();
    if (isSmall(call)) {
      byte[] bytes = Protocol.request(call.payload, timeLeft);
      return out.send(MessageKind.REQUEST, id, call.methodId, bytes, call.deadlineNanos);
    }
    Channel channel = out.openChannel(() -> isOver(call), call.deadlineNanos);
    if (channel == null) {
      return isOver(call) ? SendResult.OVER : SendResult.TIMEOUT;
    }
    byte[] announced = Protocol.request(channel.id(), call.payload.length, timeLeft);
    SendResult result =
        out.send(MessageKind.REQUEST, id, call.methodId, announced, call.deadlineNanos);
    return result == SendResult.SENT
        ? out.sendChunks(channel, call.payload, () -> isOver(call), call.deadlineNanos)
        : result;
  }

  private boolean isOver(Call call) {
    return call.isDone() || state.compareTo(State.DYING) >= 0;
  }

  private void sent(long id) {
    State now;
    synchronized (this) {
      if (!table.markSent(id)) {
        return; // answered already
      }
      now = state;
    }
    // Whoever went through the table when the worker died has left out what was on its way there.
    if (now == State.DYING) {
      giveToOthers();
    } else if (now == State.GONE) {
      failAll();
    }
  }

  /** Takes a call out; null if somebody else was first. */
  private @Nullable Call take(long id) {
    Call call;
    synchronized (this) {
      call = table.remove(id);
      load = table.size();
    }
    if (call != null) {
      supervisor.roomCame(this);
    }
    return call;
  }

  /** Nobody waits for a call any more. If the worker does not let it be, it counts as stuck. */
  void giveUp(long id) {
    boolean there;
    synchronized (this) {
      there = table.contains(id);
    }
    if (there && peer().isAttached()) {
      peer().send(MessageKind.CANCEL, id, 0, NO_BYTES, 0, 0);
      supervisor.watchStuck(this, id);
    }
  }

  synchronized boolean isStillAt(long id) {
    return table.contains(id);
  }

  /** Waits for a call awake; false if the caller had better sleep. */
  boolean await(Call call) {
    return call.mayLook() && lookout().await(call);
  }

  // Answers.

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
      from.disconnect("it does not keep to the protocol: " + e.getMessage());
    }
  }

  private void response(Message message) {
    if (message.id() == Protocol.HELLO) {
      hello(Protocol.parseHello(message.bytes(), message.length()));
      return;
    }
    long id = message.id();
    Status status = Protocol.status(message.methodId());
    if ((message.methodId() & Protocol.ANSWER_IN_CHUNKS) == 0) {
      answered(id, status, message.toByteArray());
    } else {
      Objects.requireNonNull(incoming)
          .expect(
              Protocol.parseAnswerInChunks(message.bytes(), message.length()),
              payload -> answered(id, status, payload));
    }
  }

  private void hello(List<String> names) {
    methods = names.stream().map(Protocol::methodId).collect(Collectors.toUnmodifiableSet());
    synchronized (this) {
      if (state != State.STARTING) {
        return;
      }
      readyNanos = System.nanoTime();
      state = State.READY;
    }
    supervisor.ready(this);
  }

  /** An answer to a call that is no longer here was for a caller who no longer waits. */
  private void answered(long id, Status status, byte[] payload) {
    Call call = take(id);
    if (call == null) {
      return;
    }
    finished.incrementAndGet();
    latencies.record(System.nanoTime() - call.startNanos);
    switch (status) {
      case OK -> call.succeed(payload);
      case UNKNOWN_METHOD -> call.fail(new UnknownMethod(call.method));
      case FAILED -> call.fail(new MethodFailed(new String(payload, StandardCharsets.UTF_8)));
      case TOO_LARGE ->
          call.fail(
              new MethodFailed("the answer has more than %d bytes".formatted(Protocol.MOST_BYTES)));
      case CANCELLED -> call.failOverdue();
    }
    supervisor.answered(this);
  }

  // Life and death, on the loop thread.

  /** Takes no more calls and ends when it has none. */
  void retire() {
    synchronized (this) {
      if (state != State.READY) {
        return;
      }
      state = State.RETIRING;
    }
    leaveIfIdle();
  }

  /** Says goodbye to a worker that has nothing left to do. */
  void leaveIfIdle() {
    if (state == State.RETIRING && load == 0) {
      peer().send(MessageKind.GOODBYE, 0, 0, NO_BYTES, 0, 0);
    }
  }

  @Override
  public void onDying(Peer from, Witness witness) {
    synchronized (this) {
      state = State.DYING;
    }
    supervisor.dying(this);
    supervisor.afterThisTurn(this::giveToOthers); // answers in the ring count first
  }

  private void giveToOthers() {
    List<Call> calls;
    synchronized (this) {
      calls = table.removeSent(call -> call.isDone() || mayBeTriedAgain(call));
      load = table.size();
    }
    calls.stream().filter(call -> !call.isDone()).forEach(supervisor::again);
  }

  private boolean mayBeTriedAgain(Call call) {
    return call.options.delivery() == Delivery.AT_LEAST_ONCE && call.attempts < attempts;
  }

  @Override
  public void onGone(Peer from, @Nullable ExitStatus status) {
    supervisor.gone(this, status);
  }

  @Override
  public void onStuck(Peer from) {
    supervisor.stuck(this, "it shows no sign of life");
  }

  /** It has ended, and all it had sent has been read. */
  void ended(Death how) {
    synchronized (this) {
      death = how;
      state = State.GONE;
    }
    failAll();
  }

  private void failAll() {
    Death how = Objects.requireNonNull(death);
    List<Call> calls;
    synchronized (this) {
      calls = table.removeSent(_ -> true);
      load = table.size();
    }
    for (Call call : calls) {
      if (call.options.delivery() == Delivery.AT_MOST_ONCE) {
        call.fail(new WorkerDied(call.method, how));
      } else if (mayBeTriedAgain(call)) {
        supervisor.again(call);
      } else {
        supervisor.deadLetter(call, new DeadLetter(call.method, call.attempts, how));
      }
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
