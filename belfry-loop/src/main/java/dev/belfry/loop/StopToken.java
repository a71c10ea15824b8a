package dev.belfry.loop;

import org.jspecify.annotations.Nullable;

/**
 * Tells whether work should stop. Passed to operations and to {@link EventLoop#run(RunMode,
 * StopToken)}; the sending end is a {@link StopSource}. Thread-safe.
 */
public final class StopToken {
  /** A token that never fires. */
  public static final StopToken NEVER = new StopToken();

  /** A token that has fired. */
  static final StopToken FIRED = new StopToken();

  static {
    FIRED.stop();
  }

  /** The registered callbacks, newest first; guarded by this. */
  private @Nullable StopCallback callbacks;

  /** Set once, under the lock; read without it. */
  private volatile boolean stopped;

  StopToken() {}

  /** Whether a stop was requested. */
  public boolean isStopRequested() {
    return stopped;
  }

  /**
   * Runs an action when the stop is requested, on the requesting thread, or immediately if it was
   * requested already.
   *
   * @return the registration; once it is closed, no later request runs the action
   */
  public Registration onStop(Runnable action) {
    var callback =
        new StopCallback() {
          @Override
          void stopRequested() {
            action.run();
          }
        };
    if (!register(callback)) {
      action.run();
    }
    return () -> unregister(callback);
  }

  /** A registration that can be taken back. */
  public interface Registration extends AutoCloseable {
    @Override
    void close();
  }

  /** Adds a callback; false if the token has fired. */
  boolean register(StopCallback callback) {
    if (this == NEVER) {
      return true;
    }
    synchronized (this) {
      if (stopped) {
        return false;
      }
      callback.linked = true;
      callback.newer = null;
      callback.older = callbacks;
      if (callbacks != null) {
        callbacks.newer = callback;
      }
      callbacks = callback;
      return true;
    }
  }

  void unregister(StopCallback callback) {
    if (this == NEVER) {
      return;
    }
    synchronized (this) {
      unlink(callback);
    }
  }

  private void unlink(StopCallback callback) {
    if (callback.linked) {
      callback.linked = false;
      if (callback.newer == null) {
        callbacks = callback.older;
      } else {
        callback.newer.older = callback.older;
      }
      if (callback.older != null) {
        callback.older.newer = callback.newer;
      }
      callback.newer = null; // a callback that is kept must not keep its neighbours reachable
      callback.older = null;
    }
  }

  /** Fires the token; true the first time. */
  boolean stop() {
    synchronized (this) {
      if (stopped) {
        return false;
      }
      stopped = true;
    }
    Throwable failure = null;
    StopCallback next;
    while ((next = takeCallback()) != null) {
      try {
        next.stopRequested(); // outside the lock, because it may do anything
      } catch (RuntimeException | Error e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure instanceof RuntimeException e) {
      throw e;
    } else if (failure instanceof Error e) {
      throw e;
    }
    return true;
  }

  private synchronized @Nullable StopCallback takeCallback() {
    StopCallback callback = callbacks;
    if (callback != null) {
      unlink(callback);
      callback.taken();
    }
    return callback;
  }
}
