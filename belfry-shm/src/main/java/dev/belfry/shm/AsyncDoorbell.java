package dev.belfry.shm;

import static dev.belfry.linux.Errno.ECONNRESET;

import dev.belfry.linux.ErrnoException;
import dev.belfry.loop.Descriptor;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.Operation;
import dev.belfry.loop.TimerOperation;
import dev.belfry.loop.TransferOperation;
import dev.belfry.shm.Doorbell.Event;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A doorbell that an event loop listens to. The loop is its only reader: it notifies the listener,
 * on the loop thread, and all waiters. Without a listener, a ring that comes while no one waits is
 * kept for the next waiter. Any thread may ring.
 */
public final class AsyncDoorbell implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(AsyncDoorbell.class.getName());
  private static final int READ_BYTES = 64;

  private final EventLoop loop;
  private final Doorbell bell;
  private final Descriptor handle;
  private final TransferOperation read;
  private final @Nullable Consumer<Event> listener;

  // Guarded by this.
  private CompletableFuture<Event> next = new CompletableFuture<>();

  /** The number of threads that wait for {@link #next}. */
  private int waiters;

  private boolean unheard;
  private boolean dead;

  /** Whether the loop was stopped, so that nothing is heard any more. */
  private boolean stopped;

  private boolean closed;

  private AsyncDoorbell(
      EventLoop loop, Doorbell bell, Descriptor handle, @Nullable Consumer<Event> listener) {
    this.loop = loop;
    this.bell = bell;
    this.handle = handle;
    this.listener = listener;
    this.read = handle.readSome(Arena.ofAuto().allocate(READ_BYTES));
  }

  /** Makes a loop listen to a bell; nothing else may wait for it from now on. */
  public static AsyncDoorbell on(EventLoop loop, Doorbell bell) throws IOException {
    return open(loop, bell, null);
  }

  /**
   * Makes a loop listen to a bell.
   *
   * @param listener notified on the loop thread of every ring, and once of death
   */
  public static AsyncDoorbell on(EventLoop loop, Doorbell bell, Consumer<Event> listener)
      throws IOException {
    return open(loop, bell, listener);
  }

  private static AsyncDoorbell open(
      EventLoop loop, Doorbell bell, @Nullable Consumer<Event> listener) throws IOException {
    var heard = new AsyncDoorbell(loop, bell, Descriptor.adopt(loop, bell.fd()), listener);
    heard.read.start(heard::completed);
    return heard;
  }

  /** Rings; see {@link Doorbell#ring}. */
  public Doorbell.Rung ring() throws ErrnoException {
    return bell.ring();
  }

  /** Rings, whether or not it succeeds. */
  void announce() {
    bell.announce();
  }

  /**
   * Waits until the peer rings or dies, in a coroutine or on any thread but the loop's.
   *
   * @throws CancellationException if the bell was closed, the loop stopped, or the thread
   *     interrupted
   */
  public Event await() throws IOException {
    CompletableFuture<Event> ring = subscribe();
    return await(ring, ring);
  }

  /** Waits until the peer rings or dies, at most for the given time. */
  public Event await(Duration atMost) throws IOException {
    CompletableFuture<Event> ring = subscribe();
    CompletableFuture<Event> event = ring.copy();
    TimerOperation timer = loop.scheduler().after(atMost);
    timer.start(
        ended -> {
          if (ended.hasValue()) {
            event.complete(Event.TIMEOUT);
          } else {
            event.cancel(false); // the loop was stopped
          }
        });
    try {
      return await(event, ring);
    } finally {
      timer.cancel();
    }
  }

  private synchronized CompletableFuture<Event> subscribe() {
    if (loop.inLoop() && !Thread.currentThread().isVirtual()) {
      throw new IllegalStateException(
          "waiting on the loop's own thread would stop the loop: use a listener or a coroutine");
    }
    if (closed) {
      throw new IllegalStateException("this end of the doorbell is closed");
    }
    if (unheard || dead) {
      Event event = unheard ? Event.SIGNAL : Event.DEATH;
      unheard = false;
      return CompletableFuture.completedFuture(event);
    }
    if (stopped) {
      throw new CancellationException("the loop that hears this doorbell was stopped");
    }
    waiters++;
    return next;
  }

  /**
   * Waits. A waiter that gives up leaves the next ring to others; a ring that arrives at the same
   * moment is returned after all.
   */
  private Event await(CompletableFuture<Event> event, CompletableFuture<Event> ring)
      throws IOException {
    try {
      Event first = event.get();
      return first == Event.TIMEOUT && !unsubscribe(ring) ? ring.get() : first;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      if (unsubscribe(ring)) {
        throw new CancellationException("interrupted while waiting for a doorbell");
      }
      return ring.join();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof CancellationException cancelled) {
        throw cancelled;
      }
      throw new IOException("the doorbell failed", e.getCause());
    }
  }

  /** Stops waiting; false if the ring is already being delivered. */
  private synchronized boolean unsubscribe(CompletableFuture<Event> ring) {
    if (ring != next) {
      return false;
    }
    waiters--;
    return true;
  }

  /** On the loop thread. */
  private void completed(Operation<? extends Integer> operation) {
    switch (operation.outcome()) {
      case VALUE -> {
        boolean signal = read.bytes() > 0;
        try {
          heard(signal ? Event.SIGNAL : Event.DEATH);
        } finally {
          if (signal && !handle.isClosed()) {
            read.start(this::completed);
          }
        }
      }
      case STOPPED -> stopped();
      case ERROR -> {
        if (!(operation.error() instanceof ErrnoException e && e.is(ECONNRESET))) {
          LOG.log(Level.ERROR, "a doorbell failed, which counts as death", operation.error());
        }
        heard(Event.DEATH);
      }
    }
  }

  private void stopped() {
    CompletableFuture<Event> waiting;
    synchronized (this) {
      stopped = true;
      waiting = subscribers();
    }
    waiting.cancel(false);
  }

  private void heard(Event event) {
    CompletableFuture<Event> waiting;
    synchronized (this) {
      dead |= event == Event.DEATH;
      unheard |= event == Event.SIGNAL && waiters == 0 && listener == null;
      waiting = subscribers();
    }
    try {
      if (listener != null) {
        listener.accept(event);
      }
    } finally {
      waiting.complete(event);
    }
  }

  private synchronized CompletableFuture<Event> subscribers() {
    CompletableFuture<Event> waiting = next;
    next = new CompletableFuture<>();
    waiters = 0;
    return waiting;
  }

  /** Closes this end, which the peer sees as death. Waiters are cancelled. Any thread. */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    bell.retire(); // so that no ring follows; the loop closes the descriptor
    handle.close();
    subscribers().cancel(false);
  }
}
