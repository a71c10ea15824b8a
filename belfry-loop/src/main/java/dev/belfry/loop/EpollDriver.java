package dev.belfry.loop;

import static dev.belfry.linux.Errno.EAGAIN;
import static dev.belfry.linux.Errno.EINTR;
import static dev.belfry.linux.Errno.EPERM;

import dev.belfry.linux.Epoll;
import dev.belfry.linux.EpollEvents;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.EventFd;
import dev.belfry.linux.Sys;
import dev.belfry.loop.WaitQueue.Readiness;
import java.lang.foreign.Arena;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Drives a loop with epoll. A descriptor is registered once, edge-triggered and for both
 * directions, when an operation on it first has to wait. From then on its {@link WaitQueue}s cache
 * what the kernel last reported, and the steady state makes no {@code epoll_ctl} call at all.
 */
final class EpollDriver implements Driver {
  private static final int BATCH = 256;
  private static final long WAKE_TOKEN = -1;
  private static final int INTEREST = Epoll.IN | Epoll.OUT | Epoll.RDHUP | Epoll.PRI | Epoll.ET;

  private final LoopCore loop;
  private final Sys sys;
  private final Epoll epoll;
  private final EpollWait wait;
  private final EventFd wakeUp;
  private final EpollEvents batch = new EpollEvents(Arena.ofAuto(), BATCH);
  private final HandleTable handles = new HandleTable();
  private final EpollFutexes futexes;

  /** Whether the loop is ending: postponed operations are cancelled instead of continued. */
  private boolean ending;

  private EpollDriver(LoopCore loop, Epoll epoll, EpollWait wait, EventFd wakeUp) {
    this.loop = loop;
    this.sys = loop.sys;
    this.epoll = epoll;
    this.wait = wait;
    this.wakeUp = wakeUp;
    this.futexes = new EpollFutexes(loop, epoll);
  }

  /**
   * Opens the driver of a loop; leaves nothing behind if that fails.
   *
   * @param wanted the backend, or null for the best one that works
   */
  // r[impl loop.ctx.owns] r[impl loop.ctx.error-free-close] r[impl loop.backend.no-threads]
  static EpollDriver open(LoopCore loop, @Nullable Backend wanted) throws ErrnoException {
    Epoll epoll = Epoll.create(loop.sys);
    EventFd wakeUp = null;
    EpollWait wait = null;
    try {
      wakeUp = EventFd.create(loop.sharedSys);
      check("epoll_ctl", epoll.add(wakeUp.number(), Epoll.IN | Epoll.ET, WAKE_TOKEN), "wake-up");
      wait = EpollWait.open(loop.sys, epoll, wanted);
      return new EpollDriver(loop, epoll, wait, wakeUp);
    } finally {
      if (wait == null) { // opening failed
        if (wakeUp != null) {
          wakeUp.close();
        }
        epoll.close();
      }
    }
  }

  static Optional<String> unavailabilityCause(Backend backend, Sys sys) {
    try (Epoll epoll = Epoll.create(sys)) {
      EpollWait.open(sys, epoll, backend).close();
      return Optional.empty();
    } catch (ErrnoException e) {
      return Optional.ofNullable(e.getMessage());
    }
  }

  @Override
  public Backend backend() {
    return wait.backend();
  }

  // r[impl loop.op.eager]
  @Override
  public void start(IoOperation<?> operation) {
    Handle handle = operation.handle;
    WaitQueue direction = handle.direction(operation);
    if (!operation.isOrdered() && !handle.isRegularFile()) {
      attempt(operation, direction); // which fails: the file has no offsets
    } else if (direction.first() != null
        || (operation.needsReadiness() && isBlocked(handle, direction))) {
      direction.add(operation); // behind earlier operations
    } else if (direction.isSpent(loop.turn(), loop.options)) {
      direction.add(operation);
      handle.resumeNextTurn();
    } else if (!attempt(operation, direction)) {
      direction.add(operation);
    }
  }

  /** Whether a call is pointless for now, because an event or a timer will tell when to make it. */
  private static boolean isBlocked(Handle handle, WaitQueue direction) {
    return direction.isPaused()
        || (direction.readiness == Readiness.BLOCKED && handle.slot != Handle.NOT_REGISTERED);
  }

  /** Makes the system calls of an operation; false if it has to wait, which is then arranged. */
  private boolean attempt(IoOperation<?> operation, WaitQueue direction) {
    while (true) {
      long result = operation.attempt(sys);
      if (result == -EAGAIN) {
        return !canWait(operation, direction);
      }
      if (result == IoOperation.LATER) {
        direction.retryLater(operation.handle);
        return false;
      }
      if (result < 0) {
        operation.fail(result);
        return true;
      }
      direction.spend(operation.bytesIn(result));
      boolean exhausted =
          operation.exhausts(result)
              && operation.handle.isEmptyAfterShortRead()
              && !operation.handle.moreAfterShortRead;
      direction.readiness = exhausted ? Readiness.BLOCKED : Readiness.READY;
      if (operation.accept(result)) {
        operation.completeValue();
        return true;
      }
      if (exhausted) {
        return !canWait(operation, direction);
      }
      if (direction.isSpent(loop.turn(), loop.options)) {
        operation.handle.resumeNextTurn();
        return false;
      }
    }
  }

  /** Lets an event or a timer continue the operation; if that is impossible, fails it. */
  // r[impl loop.op.park] r[impl loop.op.no-lost-edge] r[impl loop.err.transient]
  private boolean canWait(IoOperation<?> operation, WaitQueue direction) {
    Handle handle = operation.handle;
    direction.readiness = Readiness.BLOCKED;
    int result = register(handle);
    if (result < 0) {
      operation.completeError(new ErrnoException("epoll_ctl", -result, handle.what()));
      return false;
    }
    if (handle.unpollable) {
      direction.retryLater(handle); // no event will come
    }
    return true;
  }

  // r[impl loop.epoll.lazy] r[impl loop.epoll.et] r[impl loop.op.regular-file]
  private int register(Handle handle) {
    if (handle.slot != Handle.NOT_REGISTERED || handle.unpollable) {
      return 0;
    }
    long token = handles.add(handle);
    int result = epoll.add(handle.fd.number(), INTEREST, token);
    if (result < 0) {
      handles.remove(handle);
    }
    if (result == -EPERM) {
      handle.unpollable = true; // a regular file, whose calls do not wait
      return 0;
    }
    return result;
  }

  // r[impl loop.cancel.unlink] r[impl loop.cancel.stopped]
  @Override
  public void cancel(IoOperation<?> operation) {
    if (operation.queued) {
      operation.handle.direction(operation).remove(operation);
      operation.completeStopped();
    }
  }

  // r[impl loop.fd.unwritten]
  @Override
  public void flush(Handle handle) {
    WaitQueue writes = handle.writes;
    IoOperation<?> operation;
    while ((operation = writes.first()) != null && !isBlocked(handle, writes)) {
      // Removed first: completing it may block on a token's lock, and others may then use the
      // queue.
      writes.remove(operation);
      if (!attemptSafely(operation, writes)) {
        writes.putBack(operation);
      }
    }
  }

  // r[impl loop.fd.close]
  @Override
  public void close(Handle handle) {
    cancelAll(handle);
    handle.reads.forgetRetry();
    handle.writes.forgetRetry();
    if (handle.slot != Handle.NOT_REGISTERED) {
      handles.remove(handle); // first, so that events already fetched find nothing
      epoll.delete(handle.fd.number());
    }
    handle.fd.close();
  }

  @Override
  public void cancelAll() {
    ending = true;
    handles.forEach(this::cancelAll);
    futexes.cancelAll();
  }

  @Override
  public void takeBack() {
    futexes.takeBack();
  }

  @Override
  public void start(FutexOperation operation) {
    futexes.start(operation);
  }

  @Override
  public void cancel(FutexOperation operation) {
    futexes.cancel(operation);
  }

  private void cancelAll(Handle handle) {
    flush(handle);
    cancelAll(handle.reads);
    cancelAll(handle.writes);
  }

  private void cancelAll(WaitQueue direction) {
    IoOperation<?> operation;
    while ((operation = direction.first()) != null) {
      cancel(operation);
    }
  }

  @Override
  public void resume(Handle handle) {
    if (ending) {
      cancelAll(handle); // never registered, so cancelAll() does not find it
      return;
    }
    goOn(handle, handle.writes);
    goOn(handle, handle.reads);
  }

  /** Works through a queue until a call would have to wait or the share of the turn is used up. */
  private void goOn(Handle handle, WaitQueue direction) {
    IoOperation<?> operation;
    while ((operation = direction.first()) != null && !isBlocked(handle, direction)) {
      if (direction.isSpent(loop.turn(), loop.options)) {
        handle.resumeNextTurn();
        return;
      }
      if (!attemptSafely(operation, direction)) {
        return;
      }
      direction.remove(operation);
    }
  }

  private boolean attemptSafely(IoOperation<?> operation, WaitQueue direction) {
    try {
      return attempt(operation, direction);
    } catch (RuntimeException | Error e) {
      operation.completeError(e); // such as a buffer whose arena is closed
      return true;
    }
  }

  // r[impl loop.wait.eintr] r[impl loop.err.unexpected]
  @Override
  public int poll(long deadline) throws ErrnoException {
    int ended = futexes.handOver();
    long limit = ended > 0 ? NOW : futexes.limit(deadline);
    int count;
    do {
      count = wait.await(batch, limit); // recomputes the timeout on each call
    } while (count == -EINTR);
    if (count < 0) {
      throw new ErrnoException(wait.call(), -count, loop);
    }
    for (int i = 0; i < count; i++) {
      long token = batch.token(i);
      Handle handle = handles.find(token);
      if (handle != null) {
        dispatch(handle, batch.events(i));
      } else if (token == EpollFutexes.TOKEN) {
        futexes.completed();
      } else {
        wait.fired(token);
      }
    }
    return ended + count;
  }

  // r[impl loop.op.edge] r[impl loop.epoll.interest]
  private void dispatch(Handle handle, int events) {
    boolean broken = (events & (Epoll.ERR | Epoll.HUP)) != 0;
    if (broken || (events & (Epoll.RDHUP | Epoll.PRI)) != 0) {
      handle.moreAfterShortRead = true;
    }
    // Writes first: that is where a connect completes.
    if (broken || (events & Epoll.OUT) != 0) {
      handle.writes.readiness = Readiness.READY;
      goOn(handle, handle.writes);
    }
    if (broken || (events & (Epoll.IN | Epoll.RDHUP | Epoll.PRI)) != 0) {
      handle.reads.readiness = Readiness.READY;
      goOn(handle, handle.reads);
    }
  }

  @Override
  public long wake() {
    return wakeUp.signal();
  }

  @Override
  public void close() {
    futexes.close();
    wait.close();
    wakeUp.close();
    epoll.close();
  }

  private static void check(String call, int result, Object about) throws ErrnoException {
    if (result < 0) {
      throw new ErrnoException(call, -result, about);
    }
  }
}
