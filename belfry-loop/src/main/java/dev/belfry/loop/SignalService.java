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
 * Signals on a loop. While it is attached, a signalfd brings the signals to the loop thread, and
 * each goes to whoever has waited longest for it; what nobody waits for is kept for a while.
 *
 * <p>The signals must be blocked in every thread of the process, so a JVM has to be started that
 * way: see {@link dev.belfry.linux.SignalLaunch}. In a process each signal has one reader:
 * attaching takes a signal over from whoever had it, detaching gives it back.
 *
 * <p>Waits for one signal are served in order. Between different signals there is no order: of
 * those that are there the kernel hands out the lowest number first. Equal standard signals merge
 * into one while they wait in the kernel; realtime signals queue up.
 *
 * <p>An attached service is one operation in flight; it is detached when its loop ends.
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
  /** How many records of a signal are kept: more than a turn of the loop reads by default. */
  public static final int PENDING_LIMIT = 4096;

  /** The services that are attached, at most one for each loop. */
  private static final Set<SignalService> ATTACHED = ConcurrentHashMap.newKeySet();

  private final EventLoop loop;
  private final int pendingLimit;
  private final AtomicLongArray dropped = new AtomicLongArray(Signo.RTMAX + 1);

  /** What it has while it is attached; changed on the loop thread. */
  private volatile @Nullable Attachment attachment;

  private record Attachment(SigSet signals, SignalReader reader, SignalQueues queues) {}

  /** A service for a loop, not yet attached. */
  public SignalService(EventLoop loop) {
    this(loop, PENDING_LIMIT);
  }

  /**
   * A service for a loop, not yet attached.
   *
   * @param pendingLimit how many records of each signal are kept while nobody waits for it; what
   *     comes beyond that is dropped and counted
   */
  public SignalService(EventLoop loop, int pendingLimit) {
    if (pendingLimit < 0) {
      throw new IllegalArgumentException("cannot keep " + pendingLimit + " signals");
    }
    this.loop = loop;
    this.pendingLimit = pendingLimit;
  }

  /**
   * The service that is attached to the loop on whose thread the caller is.
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
   * Begins to read signals, on the loop thread. Those that have waited in the kernel come first.
   * Nothing is left behind if it fails.
   *
   * @throws ErrnoException if there is no descriptor to be had
   * @throws IllegalStateException on another thread; if the loop has an attached service, or is
   *     stopped; if one of the signals is not blocked in every thread, and then the message says
   *     which, where, and what to do
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
    ATTACHED.add(this); // now, because a coroutine may have to wait for the claim
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
    if (!drain.isActive()) { // it has failed at once; nobody has seen the service attached
      attachment = null;
      reader.close();
      if (drain.error() instanceof IOException failure) {
        throw failure;
      }
      throw new IllegalStateException("cannot attach signals: the loop was stopped");
    }
  }

  /**
   * Ends reading, on the loop thread. Waits that are left complete as stopped, and what is pending
   * is dropped. The signals stay blocked, so that one which is still on its way does no harm. Does
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

  /** Detaches, from any thread; if that is not the loop thread, as soon as the loop gets to it. */
  @Override
  public void close() {
    if (loop.inLoop()) {
      detach();
    } else {
      try {
        loop.execute(this::detach);
      } catch (RejectedExecutionException stopped) {
        // Then the end of the loop does it.
      }
    }
  }

  /** Detaches, because somebody wants it, the loop ends, or reading has failed. */
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
   * Waits for a signal; started from any thread. It fails with an {@link IllegalStateException} if
   * the signal is not attached then.
   */
  public SignalOperation next(int signum) {
    return nextAny(SignalSet.of(signum));
  }

  /** Waits for one of several signals, as {@link #next} does for one; for the first that comes. */
  public SignalOperation nextAny(SignalSet set) {
    if (set.isEmpty()) {
      throw new IllegalArgumentException("a wait needs at least one signal");
    }
    return new SignalOperation(this, set.toSigSet());
  }

  /**
   * Waits for a signal, in a coroutine or on a thread that is not the loop's.
   *
   * @throws StoppedException if the wait was stopped, also by interrupting this thread
   * @throws IllegalStateException if the signal is not attached
   */
  public SignalInfo await(int signum) throws IOException {
    return next(signum).await();
  }

  /** Waits for a signal, as {@link #await(int)} does, for at most this long; empty if none came. */
  public Optional<SignalInfo> await(int signum, Duration atMost) throws IOException {
    return awaitAny(SignalSet.of(signum), atMost);
  }

  /** Waits for one of several signals, as {@link #await(int)} does; for the first that comes. */
  public SignalInfo awaitAny(SignalSet set) throws IOException {
    return nextAny(set).await();
  }

  /** Waits for one of several signals, for at most this long; empty if none came. */
  public Optional<SignalInfo> awaitAny(SignalSet set, Duration atMost) throws IOException {
    try {
      return Optional.of(nextAny(set).within(atMost).await());
    } catch (OperationTimeoutException timeIsUp) {
      return Optional.empty();
    }
  }

  /**
   * Takes the oldest record of a signal that was received and not waited for, on the loop thread.
   *
   * @throws IllegalStateException on another thread, or if the signal is not attached
   */
  public Optional<SignalInfo> tryTake(int signum) {
    requireLoopThread("tryTake");
    return Optional.ofNullable(queues(SigSet.of(signum)).take(signum))
        .map(SignalQueues.Received::info);
  }

  /** How many records of a signal were dropped because too many were pending; any thread. */
  public long dropped(int signum) {
    return dropped.get(signum);
  }

  /** The queues, if all of these signals are attached. */
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
