package dev.belfry.bench.timers;

import dev.belfry.loop.Completion;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.Operation;
import dev.belfry.loop.TimerOperation;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Belfry's loop: reused timer operations, with a callback, on the loop thread. */
final class BelfryTimers implements Timers {
  private final EventLoop loop;

  BelfryTimers() throws IOException {
    loop = EventLoop.open();
    Thread.ofPlatform().name("loop").start(this::drive);
  }

  private void drive() {
    try {
      loop.run();
    } catch (IOException e) {
      throw new IllegalStateException("the loop failed", e);
    }
  }

  private TimerOperation newTimer() {
    return loop.scheduler().after(Duration.ZERO);
  }

  private TimerOperation[] newTimers(int count) {
    var timers = new TimerOperation[count];
    for (int i = 0; i < count; i++) {
      timers[i] = newTimer();
    }
    return timers;
  }

  /** Runs work on the loop thread and waits for the future that it completes. */
  private <T> T onLoop(Consumer<CompletableFuture<T>> work) throws Exception {
    var result = new CompletableFuture<T>();
    loop.scheduler().execute(() -> work.accept(result));
    return result.get();
  }

  @Override
  public void fill(int count) throws Exception {
    this.<Integer>onLoop(
        result -> {
          Delays delays = Delays.far();
          for (int i = 0; i < count; i++) {
            newTimer().afterNanos(delays.next()).start(_ -> {});
          }
          result.complete(count);
        });
  }

  @Override
  public Pace armAndCancel(long nanos) throws Exception {
    return this.<Pace>onLoop(
        result -> new Batches(newTimers(CANCEL_BATCH), true, nanos, result).next());
  }

  @Override
  public Pace armAndFire(long nanos) throws Exception {
    return this.<Pace>onLoop(
        result -> new Batches(newTimers(FIRE_BATCH), false, nanos, result).next());
  }

  @Override
  public long[] lateness(int count, long delayNanos) throws Exception {
    return this.<long[]>onLoop(
        result -> new OneByOne(newTimer(), new long[count], delayNanos, result).next());
  }

  @Override
  public void close() {
    loop.close();
  }

  /** Arms a batch, cancels it if asked to, and continues when all timers have completed. */
  private static final class Batches implements Completion<Void> {
    private final TimerOperation[] timers;
    private final boolean cancels;
    private final long began = System.nanoTime();
    private final long nanos;
    private final CompletableFuture<Pace> result;
    private final Delays delays;
    private long operations;
    private int completed;

    Batches(TimerOperation[] timers, boolean cancels, long nanos, CompletableFuture<Pace> result) {
      this.timers = timers;
      this.cancels = cancels;
      this.nanos = nanos;
      this.result = result;
      this.delays = cancels ? Delays.far() : Delays.soon();
    }

    void next() {
      for (TimerOperation timer : timers) {
        timer.afterNanos(delays.next()).start(this);
      }
      if (cancels) {
        for (TimerOperation timer : timers) {
          timer.cancel();
        }
      }
    }

    @Override
    public void completed(Operation<? extends Void> timer) {
      if (++completed == timers.length) {
        completed = 0;
        operations += timers.length;
        long elapsed = System.nanoTime() - began;
        if (elapsed < nanos) {
          next();
        } else {
          result.complete(new Pace(operations, elapsed));
        }
      }
    }
  }

  /** Arms a timer again once it has fired. */
  private static final class OneByOne implements Completion<Void> {
    private final TimerOperation timer;
    private final long[] late;
    private final long delayNanos;
    private final CompletableFuture<long[]> result;
    private int count;
    private long armed;

    OneByOne(TimerOperation timer, long[] late, long delayNanos, CompletableFuture<long[]> result) {
      this.timer = timer;
      this.late = late;
      this.delayNanos = delayNanos;
      this.result = result;
    }

    void next() {
      armed = System.nanoTime();
      timer.afterNanos(delayNanos).start(this);
    }

    @Override
    public void completed(Operation<? extends Void> fired) {
      late[count++] = System.nanoTime() - armed - delayNanos;
      if (count < late.length) {
        next();
      } else {
        result.complete(late);
      }
    }
  }
}
