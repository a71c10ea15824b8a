package dev.belfry.workers;

import dev.belfry.loop.EventLoop;
import dev.belfry.loop.EventLoopGroup;
import dev.belfry.loop.LoopOptions;
import dev.belfry.shm.HostOptions;
import dev.belfry.shm.Peer;
import dev.belfry.shm.SegmentConfig;
import dev.belfry.shm.ShmHost;
import dev.belfry.workers.PoolStatus.WorkerStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Calls methods in worker processes. A worker may crash, hang or be killed; every call still ends
 * exactly once, with its answer or with the reason there is none.
 *
 * {@snippet :
 * try (WorkerPool pool = WorkerPool.open(PoolOptions.of(JavaWorker.of(Resizer.class)).workers(4))) {
 *   byte[] small = pool.call("resize", picture);
 * }
 * }
 *
 * <p>Safe for any number of threads, platform or virtual. The one exception is the pool's own
 * thread, on which its listener runs: every method that may wait throws an {@link
 * IllegalStateException} there, because it would wait for itself.
 */
public final class WorkerPool implements AutoCloseable {
  /** The largest payload or answer, 64 MiB. */
  public static final int MAX_PAYLOAD_BYTES = Protocol.MAX_BYTES;

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);
  private static final long LOOK_NANOS = 1_000_000;

  /** A payload of 64 KiB, with its header, still fits into one message. */
  private static final int SLOT_BYTES = (64 << 10) + 64;

  /** Spare entries for workers that are still ending while others start in their place. */
  private static final int MORE_GUESTS = 8;

  /** One entry stays free, or no worker could be replaced. */
  private static final int MAX_WORKERS = SegmentConfig.MAX_GUESTS - 1;

  private final EventLoopGroup group;
  private final ShmHost host;
  private final Gate gate = new Gate();
  private final CallMeter meter = new CallMeter(System.nanoTime());
  private final Supervisor supervisor;
  private final Crew crew;
  private final Dispatch dispatch;
  private final Deadlines deadlines;
  private final MethodIds methodIds = new MethodIds();

  private WorkerPool(PoolOptions options, EventLoopGroup group, ShmHost host) {
    this.group = group;
    this.host = host;
    this.supervisor = new Supervisor(options, host, gate, meter, this::again);
    this.crew = supervisor.crew();
    this.dispatch = new Dispatch(supervisor, gate);
    this.deadlines = new Deadlines(host.loop());
  }

  /** Opens a pool and begins to start its workers. Does not wait for them: calls do. */
  public static WorkerPool open(PoolOptions options) throws IOException {
    int guests = options.workers + options.spares;
    if (guests > MAX_WORKERS) {
      throw new IllegalArgumentException(
          "%d workers and spares; a pool has at most %d".formatted(guests, MAX_WORKERS));
    }
    EventLoopGroup group = EventLoopGroup.open(1, LoopOptions.DEFAULT);
    try {
      group.start();
      EventLoop loop = group.next();
      int ring = Math.max(64, Integer.highestOneBit(options.callsPerWorker * 4));
      SegmentConfig config =
          SegmentConfig.DEFAULT
              .withMaxGuests(Math.min(SegmentConfig.MAX_GUESTS, guests + MORE_GUESTS))
              .withRingSize(ring)
              .withSlots(SegmentConfig.DEFAULT.slotsPerGuest(), SLOT_BYTES)
              .withHeartbeat(options.heartbeat);
      ShmHost host =
          ShmHost.create(
              loop, HostOptions.DEFAULT.withPlacement(options.placement).withConfig(config));
      var pool = new WorkerPool(options.copy(), group, host);
      pool.supervisor.start();
      return pool;
    } catch (IOException | RuntimeException | Error e) { // such as a missing class
      group.close();
      throw e;
    }
  }

  /** Calls a method and waits for its answer, for at most 30 seconds. */
  public byte[] call(String method, byte[] payload) throws CallException, InterruptedException {
    return call(method, payload, CallOptions.DEFAULT);
  }

  /**
   * Calls a method and waits for its answer.
   *
   * @throws InterruptedException if this thread is interrupted while it waits; the worker is told
   *     to stop
   */
  public byte[] call(String method, byte[] payload, CallOptions options)
      throws CallException, InterruptedException {
    Call call = newCall(method, payload, options, Thread.currentThread(), null);
    place(call);
    try {
      return call.await();
    } catch (InterruptedException e) {
      call.cancel();
      throw e;
    }
  }

  /** Calls a method with a deadline of 30 seconds, without waiting for its answer. */
  public StartedCall start(String method, byte[] payload) throws InterruptedException {
    return start(method, payload, CallOptions.DEFAULT);
  }

  /**
   * Calls a method without waiting for its answer. If no worker has room it waits for one, or the
   * call fails, as the options say. For a thread that has something else to do meanwhile, such as
   * starting other calls.
   *
   * @param payload not copied: it must not change before the call has ended, because another worker
   *     may get it too
   * @return where to get the answer, or the reason there is none
   */
  public StartedCall start(String method, byte[] payload, CallOptions options)
      throws InterruptedException {
    Call call = newCall(method, payload, options, null, null);
    place(call);
    return call;
  }

  private void place(Call call) throws InterruptedException {
    try {
      dispatch.place(call);
    } catch (CallException e) {
      call.fail(e);
    } catch (InterruptedException e) {
      call.cancel();
      throw e;
    }
  }

  /** Calls a method with a deadline of 30 seconds, and returns its answer as a future. */
  public CompletableFuture<byte[]> submit(String method, byte[] payload) {
    return submit(method, payload, CallOptions.DEFAULT);
  }

  /**
   * Calls a method and returns its answer as a future. If no worker has room it waits for one, or
   * the call fails, as the options say.
   *
   * @param payload not copied: it must not change before the call has ended, because another worker
   *     may get it too
   * @return completes with the answer, or exceptionally with a {@link CallException}, on a thread
   *     of the common pool; cancelling it, or completing it in any other way, tells the worker to
   *     stop
   */
  public CompletableFuture<byte[]> submit(String method, byte[] payload, CallOptions options) {
    var future = new CompletableFuture<byte[]>();
    Call call = newCall(method, payload, options, null, future);
    var _ = future.whenComplete((_, _) -> call.cancel()); // if it was completed from outside
    try {
      place(call);
      deadlines.watch(call);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      future.cancel(false);
    }
    return future;
  }

  private Call newCall(
      String method,
      byte[] payload,
      CallOptions options,
      @Nullable Thread waiter,
      @Nullable CompletableFuture<byte[]> future) {
    checkMayWait();
    if (payload.length > MAX_PAYLOAD_BYTES) {
      throw new IllegalArgumentException(
          "a payload has at most %d bytes, not %d".formatted(MAX_PAYLOAD_BYTES, payload.length));
    }
    return new Call(method, methodIds.of(method), payload, options, waiter, future, meter);
  }

  private void checkMayWait() {
    if (host.loop().inLoop()) {
      throw new IllegalStateException(
          "a pool's listener must not wait for the pool: do that on another thread");
    }
  }

  /** Gives a call to another worker after its own has died. */
  private void again(Call call) {
    dispatch.again(call);
  }

  /**
   * Waits until all workers that get calls are ready; spares do not count.
   *
   * @return whether they were ready within the limit; false also if no more workers are started
   */
  public boolean awaitReady(Duration limit) throws InterruptedException {
    checkMayWait();
    long deadline = System.nanoTime() + TimeUnit.NANOSECONDS.convert(limit);
    while (status().workers().stream().filter(WorkerStatus::isReady).count()
        < crew.wantedActive()) {
      if (System.nanoTime() - deadline >= 0 || !supervisor.startsWorkers()) {
        return false;
      }
      Thread.sleep(1);
    }
    return true;
  }

  /** Returns a snapshot of the pool, to any number of readers. */
  public PoolStatus status() {
    long now = System.nanoTime();
    List<PooledWorker> workers = crew.all();
    CallMeter.Second second = meter.last();
    List<Peer> attached =
        workers.stream().map(PooledWorker::peer).filter(Peer::isAttached).toList();
    return new PoolStatus(
        workers.stream().map(it -> it.status(crew.isSpare(it), now)).toList(),
        gate.waiting(),
        supervisor.deaths(),
        supervisor.deathsInARow(),
        supervisor.isCircuitOpen(),
        meter.finishedCount(),
        meter.failedCount(),
        meter.repeatedCount(),
        meter.deadLetterCount(),
        second.callsPerSecond(),
        second.latency(),
        host.segment().hostSlotsUsed() + attached.stream().mapToInt(Peer::slotsUsed).sum(),
        host.segment().config().slotsPerGuest() * (1 + attached.size()));
  }

  /** Closes an open circuit: starts workers again after too many in a row have died early. */
  public void reset() {
    supervisor.reset();
  }

  /**
   * Accepts no more calls, and waits until those in flight have ended or the thread is interrupted.
   * Workers that die meanwhile are still replaced, so that their calls are not lost.
   *
   * @return whether all calls ended within the limit
   */
  public boolean drain(Duration limit) {
    checkMayWait();
    dispatch.drain();
    long deadline = System.nanoTime() + TimeUnit.NANOSECONDS.convert(limit);
    while (!isIdle(deadline)) {
      if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
        return false;
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    return true;
  }

  /** Asks on the loop, where a listener may be in the way. */
  private boolean isIdle(long deadline) {
    try {
      return CompletableFuture.supplyAsync(dispatch::isIdle, host.loop().scheduler())
          .get(Math.max(LOOK_NANOS, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      return true; // the pool was closed before
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (ExecutionException e) {
      throw new AssertionError("counting does not fail", e);
    }
  }

  /** Drains for at most five seconds, then ends the workers. */
  @Override
  public void close() throws IOException {
    close(CLOSE_LIMIT);
  }

  /**
   * Drains, then ends the workers; without waiting if the thread is interrupted. Calls that are
   * still in flight after the limit fail with {@link PoolClosed}, and their workers are told to
   * stop.
   *
   * @param limit how long calls in flight may take to end, and then how long workers may take to
   *     leave before they are killed
   */
  public void close(Duration limit) throws IOException {
    drain(limit);
    dispatch.close();
    supervisor.leave();
    crew.all().forEach(worker -> worker.calls().close());
    long millis = Math.max(0, TimeUnit.MILLISECONDS.convert(limit));
    long longer = Math.max(millis, millis + CLOSE_LIMIT.toMillis()); // unless that overflows
    try {
      host.goodbye(limit).get(longer, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("cannot end the workers", e);
    } finally {
      group.close();
      host.close(); // kills workers that have not exited by now
    }
  }
}
