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
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A worker at work: fetches calls, runs them, sends the answers. */
final class Serving {
  private static final long LOOK_NANOS = 1_000_000;
  private static final Duration DETACH_LIMIT = Duration.ofSeconds(1);

  private final ShmGuest guest;
  private final Map<Long, Worker.Method> methods;
  private final Outgoing outgoing;
  private final Incoming incoming;
  private final Map<Long, Request> running = new ConcurrentHashMap<>();

  /** Of those who fetch: chunks have to be put together in their order. */
  private final ReentrantLock turn = new ReentrantLock();

  /** The call that the last message has made complete; whose turn it is. */
  private @Nullable Runnable complete;

  /** Whether one thread does everything: then nobody takes turns or asks what is running. */
  private boolean alone;

  /** No more calls will come. */
  private volatile boolean over;

  Serving(ShmGuest guest, Map<Long, Worker.Method> methods) {
    this.guest = guest;
    this.methods = methods;
    SegmentConfig config = guest.segment().config();
    this.outgoing = new Outgoing(guest, config.maxPayloadSize(), config.initialCredit());
    this.incoming = new Incoming(guest::channelOf);
  }

  /** This thread fetches, and each call gets a thread of its own. */
  void runOnVirtualThreads() {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      // The first virtual thread of a JVM takes long; a spare's first call is one that was in
      // flight on a worker that has died, and should not have to wait for that too.
      CompletableFuture.runAsync(() -> {}, threads).join();
      sayHello();
      fetch(threads);
    }
  }

  /** Each thread fetches and runs what it has fetched, in turns; this is one of them. */
  void runOnPlatformThreads(int count) {
    alone = count == 1;
    sayHello();
    try (ExecutorService threads = Executors.newFixedThreadPool(Math.max(1, count - 1))) {
      for (int i = 1; i < count; i++) {
        threads.execute(() -> fetch(Runnable::run));
      }
      fetch(Runnable::run);
    }
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
    outgoing.send(MessageKind.RESPONSE, Protocol.HELLO, 0, hello, FutexWait.FOREVER);
  }

  private void fetch(Executor executor) {
    var message = new Message();
    while (!over) {
      Runnable work = next(message);
      if (work != null) {
        executor.execute(work);
      }
    }
  }

  /**
   * Receives a message and does what has to be done in the order of messages.
   *
   * @return the call to be run, if it was one and is complete
   */
  private @Nullable Runnable next(Message message) {
    if (alone) {
      return receive(message);
    }
    turn.lock();
    try {
      return receive(message);
    } finally {
      turn.unlock();
    }
  }

  private @Nullable Runnable receive(Message message) {
    if (over || guest.receiveBlocking(message, FutexWait.FOREVER) != Awaited.READY) {
      over = true;
      return null;
    }
    return take(message);
  }

  private @Nullable Runnable take(Message message) {
    complete = null;
    switch (message.kind()) {
      case REQUEST -> request(message);
      case CANCEL -> {
        Request request = running.get(message.id());
        if (request != null) {
          request.cancel();
        }
      }
      case DATA, CLOSE, RESET -> incoming.take(message);
      case GOODBYE -> leave();
      case RESPONSE -> throw new MalformedMessage("the pool answers, but was not called");
    }
    return complete;
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
      incoming.expect(header, payload -> accept(id, methodId, payload, header.timeLeftMillis()));
    } else {
      byte[] payload =
          Arrays.copyOfRange(message.bytes(), Protocol.REQUEST_HEADER_BYTES, message.length());
      accept(id, methodId, payload, header.timeLeftMillis());
    }
  }

  private void accept(long id, long methodId, byte[] payload, int timeLeft) {
    Worker.Method method = methods.get(methodId);
    if (method == null) {
      complete = () -> answer(id, Status.UNKNOWN_METHOD, new byte[0]);
      return;
    }
    var request = new Request(method.name(), payload, timeLeft);
    if (!alone) {
      running.put(id, request);
    }
    complete = () -> run(id, method, request);
  }

  private void run(long id, Worker.Method method, Request request) {
    byte[] answer = new byte[0];
    Status status = Status.OK;
    if (!alone) {
      request.begin();
    }
    try {
      answer = Objects.requireNonNull(method.handler().handle(request), "the method gave null");
    } catch (Throwable e) { // whatever it is, the caller waits for an answer
      status = request.isCancelled() ? Status.CANCELLED : Status.FAILED;
      answer = String.valueOf(e).getBytes(StandardCharsets.UTF_8);
    } finally {
      if (!alone) {
        request.end();
      }
    }
    if (answer.length > Protocol.MOST_BYTES) {
      status = Status.TOO_LARGE;
      answer = new byte[0];
    }
    answer(id, status, answer);
    if (!alone) {
      running.remove(id);
    }
  }

  /** What cannot be sent because the pool is gone, nobody waits for. */
  private void answer(long id, Status status, byte[] payload) {
    if (outgoing.fits(payload.length)) {
      outgoing.send(MessageKind.RESPONSE, id, status.number(), payload, FutexWait.FOREVER);
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

  private boolean isHostGone() {
    return guest.end().isPresent();
  }
}
