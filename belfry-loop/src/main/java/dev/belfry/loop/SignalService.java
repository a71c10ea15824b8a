package dev.belfry.loop;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.Signo;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Receives signals on a loop. While the service is attached, a signalfd delivers the signals to the
 * loop thread. Each goes to the operation that has waited for it longest; signals without a waiter
 * are kept, up to a limit.
 *
 * <p>The signals must be blocked in every thread of the process, so a JVM has to be started that
 * way: see {@link dev.belfry.linux.SignalLaunch}. Each signal has one reader per process: attaching
 * takes a signal over from its previous reader, detaching gives it back.
 *
 * <p>Waiters for the same signal are served in order. Different signals have no order among each
 * other: of the pending ones the kernel delivers the lowest number first. Equal standard signals
 * merge into one while they are pending in the kernel; realtime signals queue up.
 *
 * <p>An attached service counts as one operation in flight. It is detached when its loop ends.
 *
 * {@snippet :
 * var signals = new SignalService(loop);
 * loop.spawn("until TERM", () -> {
 *   signals.attach(SignalSet.of(Signo.HUP, Signo.TERM));
 *   while (signals.awaitAny(SignalSet.of(Signo.HUP, Signo.TERM)).signum() == Signo.HUP) {
 *     reload();
 *   }
 *   loop.requestStop();
 * });
 * }
 */
// r[impl sig.fifo.scope]
public final class SignalService implements AutoCloseable {
  /** How many records of each signal are kept: more than one turn of the loop reads by default. */
  public static final int PENDING_LIMIT = 4096;

  /** The attached services, at most one per loop. */
  private static final Set<SignalService> ATTACHED = ConcurrentHashMap.newKeySet();

  private final EventLoop loop;
  private final int pendingLimit;
  private final AtomicLongArray dropped = new AtomicLongArray(Signo.RTMAX + 1);

  /** The state while attached; written by the loop thread. */
  private volatile @Nullable Attachment attachment;

  private record Attachment(SigSet signals, SignalReader reader, SignalQueues queues) {}

  /** Creates a service for a loop, not attached yet. */
  public SignalService(EventLoop loop) {
    this(loop, PENDING_LIMIT);
  }

  /**
   * Creates a service for a loop, not attached yet.
   *
   * @param pendingLimit how many records of each signal are kept while it has no waiter; further
   *     ones are dropped and counted
   */
  public SignalService(EventLoop loop, int pendingLimit) {
    if (pendingLimit < 0) {
      throw new IllegalArgumentException("cannot keep " + pendingLimit + " signals");
    }
    this.loop = loop;
    this.pendingLimit = pendingLimit;
  }

  /**
   * The service attached to the loop on whose thread the caller runs.
   *
   * @throws IllegalStateException if there is none
   */
  public static SignalService current() {
    return ATTACHED.stream()
        .filter(service -> service.loop.inLoop())
        .findAny()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "no signal service is attached to a loop on this thread: attach one first"));
  }

  /** The loop it belongs to. */
  public EventLoop loop() {
    return loop;
  }

  /**
   * Begins to read signals; for the loop thread. Signals already pending in the kernel come first.
   * If it fails, nothing is left behind.
   *
   * @throws ErrnoException if no descriptor is available
   * @throws IllegalStateException on another thread; if the loop has an attached service or is
   *     stopped; if a signal is not blocked in every thread, with a message that says which, where,
   *     and what to do
   */
  // r[impl sig.attach] r[impl sig.attach.one-loop]
  public void attach(SignalSet set) throws IOException {
    requireLoopThread("attach");
    if (ATTACHED.stream().anyMatch(service -> service.loop == loop)) {
      throw new IllegalStateException(
          attachment != null
              ? "the signal service is attached already: detach it first"
              : "the loop has an attached signal service: use that, SignalService.current()");
    }
    SigSet signals = set.toSigSet();
    ATTACHED.add(this); // before a coroutine may have to wait for the claim
    try {
      SignalGaps.refuse(signals);
      begin(signals);
    } finally {
      if (attachment == null) {
        ATTACHED.remove(this);
      }
    }
  }

  private void begin(SigSet signals) throws IOException {
    SignalReader reader = SignalReader.open(loop, signals);
    var queues = new SignalQueues(signals, pendingLimit, dropped);
    var begun = new Attachment(signals, reader, queues);
    IoOperation<Void> drain = reader.drain(queues::arrived);
    attachment = begun;
    drain.start(ended -> end(begun, ended.error()));
    if (!drain.isActive()) { // it failed at once, before the attached service was visible
      attachment = null;
      reader.close();
      if (drain.error() instanceof IOException failure) {
        throw failure;
      }
      throw new IllegalStateException("cannot attach signals: the loop was stopped");
    }
  }

  /**
   * Stops reading signals; for the loop thread. Remaining waiters complete as stopped, and pending
   * signals are dropped. The signals stay blocked, so that one still on its way does no harm. Does
   * nothing if the service is not attached.
   *
   * @throws IllegalStateException on another thread
   */
  public void detach() {
    requireLoopThread("detach");
    Attachment held = attachment;
    if (held != null) {
      end(held, null);
    }
  }

  /** Detaches, from any thread; from other threads, as soon as the loop gets to it. */
  @Override
  public void close() {
    if (loop.inLoop()) {
      detach();
    } else {
      try {
        loop.execute(this::detach);
      } catch (RejectedExecutionException stopped) {
        // The end of the loop detaches the service.
      }
    }
  }

  /** Detaches, on request, at the end of the loop, or because reading failed. */
  private void end(Attachment ending, @Nullable Throwable error) {
    if (attachment == ending) {
      attachment = null;
      ending.queues().close(error);
      ending.reader().close();
      ATTACHED.remove(this);
    }
  }

  /** Whether it is attached. */
  public boolean isAttached() {
    return attachment != null;
  }

  /**
   * Waits for a signal; may be started from any thread. Fails with an {@link IllegalStateException}
   * if the signal is not attached at its start.
   */
  public SignalOperation next(int signum) {
    return nextAny(SignalSet.of(signum));
  }

  /** Waits for the first of several signals, as {@link #next} does for one. */
  public SignalOperation nextAny(SignalSet set) {
    if (set.isEmpty()) {
      throw new IllegalArgumentException("a wait needs at least one signal");
    }
    return new SignalOperation(this, set.toSigSet());
  }

  /**
   * Waits for a signal, in a coroutine or on a thread that is not the loop's.
   *
   * @throws StoppedException if the wait was stopped, or this thread was interrupted
   * @throws IllegalStateException if the signal is not attached
   */
  public SignalInfo await(int signum) throws IOException {
    return next(signum).await();
  }

  /** Waits for a signal, as {@link #await(int)} does, at most this long; empty if none came. */
  public Optional<SignalInfo> await(int signum, Duration atMost) throws IOException {
    return awaitAny(SignalSet.of(signum), atMost);
  }

  /** Waits for the first of several signals, as {@link #await(int)} does for one. */
  public SignalInfo awaitAny(SignalSet set) throws IOException {
    return nextAny(set).await();
  }

  /** Waits for the first of several signals, at most this long; empty if none came. */
  public Optional<SignalInfo> awaitAny(SignalSet set, Duration atMost) throws IOException {
    try {
      return Optional.of(nextAny(set).within(atMost).await());
    } catch (OperationTimeoutException timeIsUp) {
      return Optional.empty();
    }
  }

  /**
   * Takes the oldest pending record of a signal; for the loop thread.
   *
   * @throws IllegalStateException on another thread, or if the signal is not attached
   */
  public Optional<SignalInfo> tryTake(int signum) {
    requireLoopThread("tryTake");
    return Optional.ofNullable(queues(SigSet.of(signum)).take(signum))
        .map(SignalQueues.Received::info);
  }

  /** The number of records of a signal that were dropped for lack of room; any thread. */
  public long dropped(int signum) {
    return dropped.get(signum);
  }

  /** The queues, provided all of these signals are attached. */
  SignalQueues queues(SigSet signals) {
    Attachment held = attachment;
    if (held == null || !held.signals().containsAll(signals)) {
      SigSet missing = held == null ? signals : signals.minus(held.signals());
      throw new IllegalStateException(
          missing + " cannot be waited for: attach a service that includes it first");
    }
    return held.queues();
  }

  private void requireLoopThread(String what) {
    if (!loop.inLoop()) {
      throw new IllegalStateException(
          "%s is for the thread of the %s, not for %s: post it there with scheduler().execute"
              .formatted(what, loop, Thread.currentThread()));
    }
  }
}
