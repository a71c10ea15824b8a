package dev.belfry.workers;

import dev.belfry.shm.Awaited;
import dev.belfry.shm.FutexWait;
import dev.belfry.shm.Message;
import dev.belfry.shm.MessageKind;
import dev.belfry.shm.SegmentConfig;
import dev.belfry.shm.ShmGuest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A worker at work: fetches calls, runs them, sends the answers. */
final class Serving {
  private static final long LOOK_NANOS = 1_000_000;

  /** After a call that took so long it is worth while to see which of the next are cancelled. */
  private static final long LONG_NANOS = 1_000_000;

  private static final Duration DETACH_LIMIT = Duration.ofSeconds(1);
  private static final byte[] NOTHING = new byte[0];

  /** It may sit in somebody's method, and must not keep a process alive whose host is gone. */
  private static final ThreadFactory DAEMONS =
      Thread.ofPlatform().daemon().name("belfry-worker").factory();

  private final ShmGuest guest;
  private final Map<Long, Worker.Method> methods;
  private final Outgoing outgoing;
  private final Incoming incoming;

  /** What can be cancelled, and what has to end before this worker may leave. */
  private final Map<Long, Request> running = new ConcurrentHashMap<>();

  /** Of those who fetch: chunks have to be put together in their order. */
  private final ReentrantLock turn = new ReentrantLock();

  private final Relay relay = new Relay();

  /** The call that the last message has made complete; of who fetches. */
  private @Nullable Work complete;

  /** Calls that were fetched ahead; of who fetches. */
  private final Deque<Work> waiting = new ArrayDeque<>();

  /** When a call was last fetched; of who fetches. */
  private long lastNanos = System.nanoTime();

  /** The call that who fetches runs itself; written before the relay is told. */
  private @Nullable Work here;

  /** The pool has said that it has no more calls; of who fetches. */
  private boolean goodbye;

  /** No more calls will come. */
  private volatile boolean over;

  Serving(ShmGuest guest, Map<Long, Worker.Method> methods) {
    this.guest = guest;
    this.methods = methods;
    SegmentConfig config = guest.segment().config();
    this.outgoing = new Outgoing(guest, config.maxPayloadSize(), config.initialCredit());
    this.incoming = new Incoming(guest);
  }

  /** Short calls run on the thread that has fetched them, each other on a virtual one. */
  void runInRelay() {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        ExecutorService second = Executors.newSingleThreadExecutor(DAEMONS)) {
      // The first virtual thread of a JVM takes long; a spare's first call is one that was in
      // flight on a worker that has died, and should not have to wait for that too.
      CompletableFuture.runAsync(() -> {}, threads).join();
      CompletableFuture<Void> other =
          CompletableFuture.runAsync(() -> runInRelay(threads, false), second);
      sayHello();
      runInRelay(threads, true);
      other.join(); // if that has failed, this worker has
    }
  }

  private void runInRelay(Executor threads, boolean first) {
    try {
      boolean fetches = first;
      while (!over) {
        fetches = fetches ? fetchInRelay(threads) : relay.standBy(this::heldUp);
      }
    } finally {
      over = true;
      relay.end();
    }
  }

  /** Fetches calls; false as soon as the other thread does. */
  private boolean fetchInRelay(Executor threads) {
    var message = new Message();
    while (!over) {
      Work work = receive(message);
      if (work != null && !(work.isShort() ? runHere(work, threads) : handOver(work, threads))) {
        return false;
      }
    }
    return true;
  }

  private boolean handOver(Work work, Executor threads) {
    running.put(work.id, work.request);
    threads.execute(() -> runVisibly(work));
    return true;
  }

  /** Runs a call on this thread; false if that took so long that the other fetches now. */
  private boolean runHere(Work work, Executor threads) {
    here = work;
    long stint = relay.begin();
    if (stint == 0) {
      return handOver(work, threads);
    }
    runTimed(work, work.request.startNanos());
    if (relay.end(stint)) {
      return true;
    }
    relay.awaitTaken();
    work.request.end();
    running.remove(work.id);
    return false;
  }

  /** The thread that fetched is held up by a call: from now on that can be cancelled, like any. */
  private void heldUp(Thread thread) {
    Work work = Objects.requireNonNull(here);
    work.request.begin(thread);
    running.put(work.id, work.request);
  }

  /** Each thread fetches and runs what it has fetched, in turns; this is one of them. */
  void runOnPlatformThreads(int count) {
    sayHello();
    if (count == 1) {
      fetchAlone();
      return;
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(count - 1)) {
      for (int i = 1; i < count; i++) {
        threads.execute(this::fetchInTurns);
      }
      fetchInTurns();
    }
  }

  /** One thread does everything, so nobody asks what is running. */
  private void fetchAlone() {
    var message = new Message();
    while (!over) {
      Work work = next(message);
      if (work != null) {
        run(work);
      }
    }
  }

  private void fetchInTurns() {
    var message = new Message();
    while (!over) {
      Work work;
      turn.lock();
      try {
        work = next(message);
        if (work != null) {
          running.put(work.id, work.request);
        }
      } finally {
        turn.unlock();
      }
      if (work != null) {
        runVisibly(work);
      }
    }
  }

  /**
   * The next call for a thread that runs what it fetches. While all such threads were busy, calls
   * may have been given up; so after a long one it fetches all there is before it goes on.
   */
  private @Nullable Work next(Message message) {
    while (true) {
      Work work = waiting.poll();
      boolean late = work != null;
      if (work == null) {
        work = receive(message);
        if (work == null) {
          return null;
        }
        long now = work.request.startNanos();
        late = now - lastNanos > LONG_NANOS;
        lastNanos = now;
      }
      if (!late || !isCancelled(work, message)) {
        return work;
      }
    }
  }

  /** Whether a message that is there by now says that nobody waits for a call any more. */
  private boolean isCancelled(Work work, Message message) {
    running.put(work.id, work.request);
    while (guest.receive(message)) {
      Work other = take(message);
      if (other != null) {
        running.put(other.id, other.request);
        waiting.add(other);
      }
    }
    return running.remove(work.id) == null;
  }

  private void sayHello() {
    byte[] hello =
        Protocol.hello(
            methods.entrySet().stream()
                .filter(entry -> entry.getKey() != Protocol.REHEARSAL)
                .map(entry -> entry.getValue().name())
                .toList());
    if (!outgoing.fits(hello.length)) {
      throw new IllegalStateException(
          "the names of all methods have %d bytes, which do not fit into one message"
              .formatted(hello.length));
    }
    send(Protocol.HELLO, 0, hello);
  }

  /**
   * Receives a message and does what has to be done in the order of messages.
   *
   * @return the call to be run, if it was one and is complete
   */
  private @Nullable Work receive(Message message) {
    if (goodbye) {
      leave();
    }
    if (over || guest.receiveBlocking(message, FutexWait.FOREVER) != Awaited.READY) {
      over = true;
      return null;
    }
    return take(message);
  }

  private @Nullable Work take(Message message) {
    complete = null;
    switch (message.kind()) {
      case REQUEST -> request(message);
      case CANCEL -> cancel(message.id());
      case DATA, CLOSE, RESET -> incoming.take(message);
      case GOODBYE -> goodbye = true;
      case RESPONSE -> throw new MalformedMessage("the pool answers, but was not called");
    }
    return complete;
  }

  /** A call that nobody has begun with is answered at once: the pool counts on that. */
  private void cancel(long id) {
    incoming.drop(id); // if its payload has not come yet
    Request request = running.get(id);
    if (request != null && request.cancel()) {
      running.remove(id);
      answer(id, Status.CANCELLED, NOTHING);
    }
  }

  /** Answers what is under way, and leaves; those who wait for calls learn of it. */
  private void leave() {
    over = true;
    while (!running.isEmpty() && !isHostGone()) {
      LockSupport.parkNanos(LOOK_NANOS);
    }
    try {
      guest.detach(DETACH_LIMIT);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot leave", e);
    }
  }

  private void request(Message message) {
    long id = message.id();
    long methodId = message.methodId();
    Protocol.Header header = Protocol.parseRequest(message.bytes(), message.length());
    if (header.isInChunks()) {
      incoming.expect(
          id, header, payload -> accept(id, methodId, payload, header.timeLeftMillis()));
    } else {
      byte[] payload =
          Arrays.copyOfRange(message.bytes(), Protocol.REQUEST_HEADER_BYTES, message.length());
      accept(id, methodId, payload, header.timeLeftMillis());
    }
  }

  private void accept(long id, long methodId, byte @Nullable [] payload, int timeLeft) {
    Worker.Method method = methods.get(methodId);
    if (payload == null) {
      answer(id, Status.CANCELLED, NOTHING);
    } else if (method == null) {
      answer(id, Status.UNKNOWN_METHOD, NOTHING);
    } else {
      complete = new Work(id, method, new Request(method.name(), payload, timeLeft));
    }
  }

  /** A call to be run. */
  private record Work(long id, Worker.Method method, Request request) {
    boolean isShort() {
      return method.pace().isShort();
    }
  }

  /** Runs a call that others may cancel meanwhile. */
  private void runVisibly(Work work) {
    if (!work.request.begin(Thread.currentThread())) {
      return;
    }
    try {
      runTimed(work, System.nanoTime());
    } finally {
      running.remove(work.id);
    }
  }

  /** Runs a call and takes note how long that took. */
  private void runTimed(Work work, long startNanos) {
    run(work);
    work.method.pace().took(System.nanoTime() - startNanos);
  }

  private void run(Work work) {
    Request request = work.request;
    byte[] answer = NOTHING;
    Status status = Status.OK;
    try {
      answer =
          Objects.requireNonNull(work.method.handler().handle(request), "the method gave null");
    } catch (Throwable e) { // whatever it is, the caller waits for an answer
      status = request.isCancelled() ? Status.CANCELLED : Status.FAILED;
      answer = textOf(e).getBytes(StandardCharsets.UTF_8);
    }
    request.end();
    if (answer.length > Protocol.MOST_BYTES) {
      status = Status.TOO_LARGE;
      answer = NOTHING;
    }
    answer(work.id, status, answer);
  }

  /** What an exception says; it is somebody else's class, and may fail at that too. */
  private static String textOf(Throwable e) {
    try {
      return "%s".formatted(e);
    } catch (Throwable another) {
      return e.getClass().getName();
    }
  }

  /** What cannot be sent because the pool is gone, nobody waits for. */
  private void answer(long id, Status status, byte[] payload) {
    if (outgoing.fits(payload.length)) {
      send(id, status.number(), payload);
      return;
    }
    outgoing.sendInChunks(
        MessageKind.RESPONSE,
        id,
        status.number() | Protocol.ANSWER_IN_CHUNKS,
        channel -> Protocol.answer(channel, payload.length),
        payload,
        this::isHostGone,
        FutexWait.FOREVER);
  }

  private void send(long id, long methodField, byte[] payload) {
    outgoing.send(
        MessageKind.RESPONSE, id, methodField, payload, this::isHostGone, FutexWait.FOREVER);
  }

  private boolean isHostGone() {
    return guest.end().isPresent();
  }
}
