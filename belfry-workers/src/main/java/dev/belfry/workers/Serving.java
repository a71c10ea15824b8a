package dev.belfry.workers;

import dev.belfry.shm.Message;
import dev.belfry.shm.ShmGuest;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;

/** A worker at work: which threads read jobs, handle them and answer. */
final class Serving {
  /**
   * Daemons, because a thread that hangs in a method must not keep the process alive without its
   * host.
   */
  private static final ThreadFactory DAEMONS =
      Thread.ofPlatform().daemon().name("belfry-worker").factory();

  private final Map<Long, Worker.Method> methods;
  private final Answers answers;
  private final JobReader reader;
  private final FailureTraces traces = new FailureTraces(System.err, System::nanoTime);

  /** The turn to read, if several threads do. */
  private final ReentrantLock turn = new ReentrantLock();

  private final Relay<Job> relay = new Relay<>();

  Serving(ShmGuest guest, Map<Long, Worker.Method> methods) {
    this.methods = methods;
    this.answers = new Answers(guest);
    this.reader = new JobReader(guest, methods, answers);
  }

  private void sayHello() {
    answers.sayHello(
        methods.entrySet().stream()
            .filter(entry -> entry.getKey() != Protocol.REHEARSAL)
            .map(entry -> entry.getValue().name())
            .toList());
  }

  // In relay: short jobs run on the thread that has read them, all others on virtual threads.

  void runInRelay() {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        ExecutorService second = Executors.newSingleThreadExecutor(DAEMONS)) {
      // The first virtual thread of a JVM takes long to start. A spare's first call may be one that
      // was in flight on a worker that died; it should not have to wait for that too.
      CompletableFuture.runAsync(() -> {}, threads).join();
      CompletableFuture<Void> other =
          CompletableFuture.runAsync(() -> takeTurns(threads, false), second);
      sayHello();
      takeTurns(threads, true);
      other.join(); // if that thread has failed, so has this worker
    }
  }

  private void takeTurns(Executor threads, boolean first) {
    try {
      boolean reads = first;
      while (!reader.isOver()) {
        reads = reads ? readInRelay(threads) : relay.standBy(this::heldUp);
      }
    } finally {
      reader.end();
      relay.end();
    }
  }

  /** Reads and handles jobs; false as soon as the other thread reads. */
  private boolean readInRelay(Executor threads) {
    var message = new Message();
    while (!reader.isOver()) {
      Job job = reader.read(message);
      if (job != null && !(job.isShort() ? doHere(job, threads) : handOver(job, threads))) {
        return false;
      }
    }
    return true;
  }

  private boolean handOver(Job job, Executor threads) {
    reader.allowCancel(job);
    threads.execute(() -> doVisibly(job));
    return true;
  }

  /** Handles a job on this thread; false if that took so long that the other thread reads now. */
  private boolean doHere(Job job, Executor threads) {
    long stint = relay.begin(job);
    if (stint == 0) {
      return handOver(job, threads);
    }
    doTimed(job, job.request().startNanos());
    if (relay.end(stint)) {
      return true;
    }
    relay.awaitTaken();
    job.request().end();
    reader.disallowCancel(job);
    return false;
  }

  /** A job holds up the reading thread; from now on it can be cancelled like any other. */
  private void heldUp(Job job, Thread thread) {
    job.request().begin(thread);
    reader.allowCancel(job);
  }

  // On platform threads: each handles the jobs that it has read.

  void runOnPlatformThreads(int count) {
    sayHello();
    if (count == 1) {
      readAlone();
      return;
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(count - 1)) {
      for (int i = 1; i < count; i++) {
        threads.execute(this::readInTurns);
      }
      readInTurns();
    }
  }

  /** Reads and handles on one thread, so nothing could cancel a job while it runs. */
  private void readAlone() {
    var message = new Message();
    while (!reader.isOver()) {
      Job job = reader.readWanted(message);
      if (job != null) {
        answer(job);
      }
    }
  }

  private void readInTurns() {
    var message = new Message();
    while (!reader.isOver()) {
      Job job;
      turn.lock();
      try {
        job = reader.readWanted(message);
        if (job != null) {
          reader.allowCancel(job);
        }
      } finally {
        turn.unlock();
      }
      if (job != null) {
        doVisibly(job);
      }
    }
  }

  // One job.

  /** Handles a job that can be cancelled meanwhile, or already was. */
  private void doVisibly(Job job) {
    if (!job.request().begin(Thread.currentThread())) {
      return;
    }
    try {
      doTimed(job, System.nanoTime());
    } finally {
      reader.disallowCancel(job);
    }
  }

  /** Handles a job and records how long it took. */
  private void doTimed(Job job, long startNanos) {
    answer(job);
    job.method().pace().took(System.nanoTime() - startNanos);
  }

  private void answer(Job job) {
    Request request = job.request();
    byte[] answer;
    Status status = Status.DONE;
    Throwable failure = null;
    try {
      answer =
          Objects.requireNonNull(
              job.method().handler().handle(request), "the method returned null");
    } catch (Throwable e) { // whatever it is, the caller waits for an answer
      status = request.isCancelled() ? Status.CANCELLED : Status.FAILED;
      answer = textOf(e).getBytes(StandardCharsets.UTF_8);
      failure = e;
    }
    request.end();
    answers.send(job.id(), status, answer);
    if (failure != null && status == Status.FAILED) {
      traces.show(job.method().name(), failure);
    }
  }

  /** The text of an exception; its class is user code, and may itself throw. */
  private static String textOf(Throwable e) {
    try {
      return "%s".formatted(e);
    } catch (Throwable another) {
      return e.getClass().getName();
    }
  }
}
