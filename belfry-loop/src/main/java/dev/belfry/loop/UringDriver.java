package dev.belfry.loop;

import dev.belfry.linux.CompletionQueue;
import dev.belfry.linux.Epoll;
import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.EventFd;
import dev.belfry.linux.SubmissionQueue;
import dev.belfry.linux.Sys;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Drives a loop with io_uring: operations are requests that the kernel completes. One system call
 * submits everything that a turn of the loop has started, and then waits.
 */
final class UringDriver implements Driver {
  /**
   * How often per turn requests that follow from completions, such as the read after a wait for
   * data, are submitted at once, before completions run. Enough for all operations queued on a
   * descriptor to use up its share of a turn.
   */
  private static final int ROUNDS = 64;

  /** How long closed rings may count against a limit: tens of ms, more on a busy machine. */
  private static final long CLEAN_UP_NANOS = 1_000_000_000;

  private static final long LOOK_NANOS = 1_000_000;

  private final Uring uring;
  private final EventFd wakeUp;
  private final HandleTable handles = new HandleTable();
  private final List<UringOpen> opening = new ArrayList<>();

  private final FutexWaits futexes;

  private UringDriver(LoopCore loop, Uring uring, EventFd wakeUp) {
    this.uring = uring;
    this.futexes = new FutexWaits(uring, loop.sharedSys);
    this.wakeUp = wakeUp;
    uring.want(new WakeUp(uring, wakeUp));
  }

  /** Opens the driver of a loop; leaves nothing behind if that fails. */
  // r[impl loop.ctx.owns] r[impl loop.ctx.error-free-close]
  static UringDriver open(LoopCore loop) throws ErrnoException {
    EventFd wakeUp = EventFd.create(loop.sharedSys);
    try {
      return new UringDriver(loop, openRing(loop.sys), wakeUp);
    } catch (ErrnoException | RuntimeException e) {
      wakeUp.close();
      throw e;
    }
  }

  /** With little lockable memory, opening may have to wait until closed rings are freed. */
  private static Uring openRing(Sys sys) throws ErrnoException {
    long end = System.nanoTime() + CLEAN_UP_NANOS;
    while (true) {
      try {
        return Uring.open(sys);
      } catch (ErrnoException e) {
        if (e.errno() != Errno.ENOMEM || System.nanoTime() - end > 0) {
          throw e;
        }
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  @Override
  public Backend backend() {
    return Backend.IO_URING;
  }

  @Override
  public void start(IoOperation<?> operation) {
    of(operation.handle).lane(operation).start(operation);
  }

  private UringHandle of(Handle handle) {
    UringHandle known = handle.uring;
    if (known == null) {
      known = new UringHandle(uring, handles, handle);
      handle.uring = known;
    }
    return known;
  }

  @Override
  public void cancel(IoOperation<?> operation) {
    if (operation.queued) {
      of(operation.handle).lane(operation).cancel(operation);
    }
  }

  @Override
  public boolean open(OpenOperation operation) {
    var request = new UringOpen(uring, operation, opening);
    opening.add(request);
    uring.want(request);
    return true;
  }

  @Override
  public void cancel(OpenOperation operation) {
    for (UringOpen request : List.copyOf(opening)) {
      if (request.operation == operation && uring.withdraw(request)) {
        request.stopped();
      }
    }
  }

  @Override
  public void start(FutexOperation operation) {
    futexes.start(operation);
  }

  @Override
  public void cancel(FutexOperation operation) {
    futexes.cancel(operation);
  }

  @Override
  public void flush(Handle handle) {
    if (handle.uring != null) {
      handle.uring.writes.flush();
    }
  }

  @Override
  public void close(Handle handle) {
    UringHandle known = handle.uring;
    if (known == null) {
      handle.fd.close();
    } else {
      known.close();
    }
  }

  @Override
  public void resume(Handle handle) {
    UringHandle known = of(handle);
    known.writes.goOn();
    known.reads.goOn();
  }

  @Override
  public void cancelAll() {
    handles.forEach(
        handle -> {
          UringHandle known = of(handle);
          known.reads.cancelAll();
          known.writes.flush();
          known.writes.cancelUnlessFinishing();
        });
    List.copyOf(opening).forEach(request -> cancel(request.operation));
    futexes.cancelAll();
  }

  @Override
  public void takeBack() {
    uring.takeBack();
    futexes.close();
    handles.forEach(
        handle -> {
          UringHandle known = of(handle);
          known.reads.close(); // what was received ahead is lost
          known.writes.cancelAll(); // writes that were to be finished
        });
  }

  @Override
  public int poll(long deadline) throws ErrnoException {
    int events = uring.turn(deadline);
    for (int round = 1; round < ROUNDS && uring.hasRequests() && !uring.lacksMemory(); round++) {
      events += uring.turn(NOW);
    }
    return events;
  }

  @Override
  public void threadStays() throws ErrnoException {
    uring.stay();
  }

  @Override
  public void threadLeaves() {
    uring.leave();
  }

  @Override
  public long wake() {
    return wakeUp.signal();
  }

  @Override
  public void close() {
    uring.close();
    wakeUp.close();
  }

  /** Completes whenever the loop is woken; each write to the counter is an event. */
  // r[impl loop.wake.eventfd]
  private static final class WakeUp extends UringRequest {
    private final Uring uring;
    private final EventFd counter;

    WakeUp(Uring uring, EventFd counter) {
      super(null);
      this.uring = uring;
      this.counter = counter;
    }

    @Override
    void prepare(SubmissionQueue queue, long token) {
      queue.pollAlways(token, counter.number(), Epoll.IN | Epoll.ET);
    }

    @Override
    void completed(int result, int flags) {
      if (!CompletionQueue.hasMore(flags)) {
        uring.want(this);
      }
    }

    @Override
    void failed(Throwable failure) {
      throw new IllegalStateException("the loop cannot be woken", failure);
    }
  }
}
