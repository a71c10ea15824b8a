package dev.belfry.bench.timers;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Netty's epoll event loop: {@code schedule} on the loop thread. */
final class NettyLoopTimers implements Timers {
  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
  private final EventLoop loop = group.next();

  @Override
  public void fill(int count) throws Exception {
    loop.submit(
            () -> {
              Delays delays = Delays.far();
              for (int i = 0; i < count; i++) {
                var _ = schedule(() -> {}, delays.next());
              }
            })
        .get();
  }

  private Future<?> schedule(Runnable action, long delayNanos) {
    return loop.schedule(action, delayNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public Pace armAndCancel(long nanos) throws Exception {
    var result = new CompletableFuture<Pace>();
    loop.execute(new CancelBatches(nanos, result));
    return result.get();
  }

  @Override
  public Pace armAndFire(long nanos) throws Exception {
    var result = new CompletableFuture<Pace>();
    var batches = new FireBatches(nanos, result);
    loop.execute(batches::next);
    return result.get();
  }

  @Override
  public long[] lateness(int count, long delayNanos) throws Exception {
    var result = new CompletableFuture<long[]>();
    loop.execute(new OneByOne(count, delayNanos, result)::next);
    return result.get();
  }

  @Override
  public void close() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  /** Arms and cancels a batch, and continues in the next turn of the loop. */
  private final class CancelBatches implements Runnable {
    private final Future<?>[] timers = new Future<?>[CANCEL_BATCH];
    private final Delays delays = Delays.far();
    private final long began = System.nanoTime();
    private final long nanos;
    private final CompletableFuture<Pace> result;
    private long operations;

    CancelBatches(long nanos, CompletableFuture<Pace> result) {
      this.nanos = nanos;
      this.result = result;
    }

    @Override
    public void run() {
      for (int i = 0; i < timers.length; i++) {
        timers[i] = schedule(() -> {}, delays.next());
      }
      for (Future<?> timer : timers) {
        timer.cancel(false);
      }
      operations += timers.length;
      long elapsed = System.nanoTime() - began;
      if (elapsed < nanos) {
        loop.execute(this);
      } else {
        result.complete(new Pace(operations, elapsed));
      }
    }
  }

  /** Arms a batch, and continues when all timers have fired. */
  private final class FireBatches implements Runnable {
    private final Delays delays = Delays.soon();
    private final long began = System.nanoTime();
    private final long nanos;
    private final CompletableFuture<Pace> result;
    private long operations;
    private int fired;

    FireBatches(long nanos, CompletableFuture<Pace> result) {
      this.nanos = nanos;
      this.result = result;
    }

    void next() {
      for (int i = 0; i < FIRE_BATCH; i++) {
        var _ = schedule(this, delays.next());
      }
    }

    @Override
    public void run() {
      if (++fired == FIRE_BATCH) {
        fired = 0;
        operations += FIRE_BATCH;
        long elapsed = System.nanoTime() - began;
        if (elapsed < nanos) {
          next();
        } else {
          result.complete(new Pace(operations, elapsed));
        }
      }
    }
  }

  /** Arms a timer once the previous one has fired. */
  private final class OneByOne implements Runnable {
    private final long[] late;
    private final long delayNanos;
    private final CompletableFuture<long[]> result;
    private int count;
    private long armed;

    OneByOne(int count, long delayNanos, CompletableFuture<long[]> result) {
      this.late = new long[count];
      this.delayNanos = delayNanos;
      this.result = result;
    }

    void next() {
      armed = System.nanoTime();
      var _ = schedule(this, delayNanos);
    }

    @Override
    public void run() {
      late[count++] = System.nanoTime() - armed - delayNanos;
      if (count < late.length) {
        next();
      } else {
        result.complete(late);
      }
    }
  }
}
