package dev.belfry.workers;

import dev.belfry.shm.Awaited;
import dev.belfry.shm.FutexWait;
import dev.belfry.shm.Inbox;
import dev.belfry.shm.Message;
import dev.belfry.shm.ShmGuest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Reads the pool's messages, in order, and turns them into jobs. Unless noted otherwise, for one
 * thread at a time: the reading thread.
 */
final class JobReader {
  private static final long LOOK_NANOS = 1_000_000;
  private static final Duration DETACH_LIMIT = Duration.ofSeconds(1);

  /** After a job that took this long, it is worth checking which of the next were cancelled. */
  private static final long LONG_NANOS = 1_000_000;

  private final ShmGuest guest;
  private final Map<Long, Worker.Method> methods;
  private final Answers answers;
  private final Incoming incoming;

  /** Calls that can be cancelled, and that must end before this worker may leave. */
  private final Map<Long, Request> cancellable = new ConcurrentHashMap<>();

  private final Inbox.Handler taking = this::take;

  /** The start of the current message. */
  private final byte[] header = new byte[Protocol.LONGEST_REQUEST_HEADER_BYTES];

  /** Jobs that were read ahead. */
  private final Deque<Job> ahead = new ArrayDeque<>();

  /** When the last job was read. */
  private long lastNanos = System.nanoTime();

  /** The job that the last message has completed, if any. */
  private @Nullable Job complete;

  /** The pool has said goodbye: it has no more calls. */
  private boolean goodbye;

  /** Nothing more will be read. */
  private volatile boolean over;

  JobReader(ShmGuest guest, Map<Long, Worker.Method> methods, Answers answers) {
    this.guest = guest;
    this.methods = methods;
    this.answers = answers;
    this.incoming = new Incoming(guest);
  }

  // For any thread.

  boolean isOver() {
    return over;
  }

  void end() {
    over = true;
  }

  /** From now on the pool can cancel this job. */
  void allowCancel(Job job) {
    cancellable.put(job.id(), job.request());
  }

  /** From now on it cannot; false if the job was cancelled meanwhile, and has been answered. */
  boolean disallowCancel(Job job) {
    return cancellable.remove(job.id()) != null;
  }

  // For the reading thread.

  /** Waits for a message and acts on it; returns the job that it completes, or null. */
  @Nullable Job read(Message message) {
    if (goodbye) {
      leave();
    }
    if (over || guest.receiveBlocking(taking, message, FutexWait.FOREVER) != Awaited.READY) {
      over = true;
      return null;
    }
    return complete;
  }

  /**
   * The next job, for a thread that handles what it reads. Calls may have been abandoned while all
   * such threads were busy, so after a long job everything that has arrived is read before the next
   * begins.
   */
  @Nullable Job readWanted(Message message) {
    while (true) {
      Job job = ahead.poll();
      boolean late = job != null;
      if (job == null) {
        job = read(message);
        if (job == null) {
          return null;
        }
        long now = job.request().startNanos();
        late = now - lastNanos > LONG_NANOS;
        lastNanos = now;
        if (late) {
          allowCancel(job);
        }
      }
      if (!late || !isCancelled(job, message)) {
        return job;
      }
    }
  }

  /**
   * Whether a message that has arrived by now cancels a job, which has been cancellable since it
   * was read.
   */
  private boolean isCancelled(Job job, Message message) {
    while (guest.receive(message)) {
      take(message);
      Job other = complete;
      if (other != null) {
        allowCancel(other);
        ahead.add(other);
      }
    }
    return !disallowCancel(job);
  }

  private void take(Message message) {
    complete = null;
    switch (message.kind()) {
      case REQUEST -> request(message);
      case CANCEL -> cancel(message.id());
      case DATA, CLOSE, RESET -> incoming.take(message);
      case GOODBYE -> goodbye = true;
      case RESPONSE -> throw new MalformedMessage("the pool answers, but was not called");
    }
  }

  private void request(Message message) {
    long id = message.id();
    long methodId = message.methodId();
    message.copyTo(0, header, 0, Math.min(header.length, message.length()));
    Protocol.Header call = Protocol.parseRequest(header, message.length());
    if (call.isInChunks()) {
      incoming.expect(id, call, payload -> accept(id, methodId, payload, call.timeLeftMillis()));
    } else {
      byte[] payload = message.toByteArray(Protocol.REQUEST_HEADER_BYTES);
      accept(id, methodId, payload, call.timeLeftMillis());
    }
  }

  private void accept(long id, long methodId, byte @Nullable [] payload, int timeLeft) {
    Worker.Method method = methods.get(methodId);
    if (payload == null) {
      answers.send(id, Status.CANCELLED);
    } else if (method == null) {
      answers.send(id, Status.UNKNOWN_METHOD);
    } else {
      complete = new Job(id, method, new Request(method.name(), payload, timeLeft));
    }
  }

  /** Cancels a call. One that no thread has begun is answered at once: the pool relies on that. */
  private void cancel(long id) {
    incoming.drop(id); // if its payload is still in transit
    Request request = cancellable.get(id);
    if (request != null && request.cancel()) {
      cancellable.remove(id);
      answers.send(id, Status.CANCELLED);
    }
  }

  /** Waits until the calls in progress have been answered, and leaves. */
  private void leave() {
    over = true;
    while (!cancellable.isEmpty() && !answers.isPoolGone()) {
      LockSupport.parkNanos(LOOK_NANOS);
    }
    try {
      guest.detach(DETACH_LIMIT);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot leave", e);
    }
  }
}
