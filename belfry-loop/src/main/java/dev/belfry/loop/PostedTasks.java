package dev.belfry.loop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that other threads post to the loop: a stack that many threads push to and the loop
 * takes as a whole, then reverses into the order of arrival. Pushing allocates nothing, because the
 * tasks are the nodes. Once closed, it accepts no more.
 */
final class PostedTasks {
  private static final VarHandle TOP = FieldHandle.of(MethodHandles.lookup(), "top", Task.class);

  /** On top once closed; never run. */
  private static final Task CLOSED =
      new Task() {
        @Override
        public void run() {}

        @Override
        void abandoned() {}
      };

  /** The newest task; producers push with compare-and-set, the loop takes all with an exchange. */
  private volatile @Nullable Task top;

  /** Adds a task; false if closed. Any thread. */
  // r[impl loop.mt.queue] r[impl loop.backend.no-alloc]
  boolean offer(Task task) {
    Task newest;
    do {
      newest = top;
      if (newest == CLOSED) {
        return false;
      }
      task.posted = newest;
    } while (!TOP.compareAndSet(this, newest, task));
    return true;
  }

  /** Whether there is nothing to take. */
  boolean isEmpty() {
    return top == null;
  }

  /** Takes all tasks: the oldest, linked to the next by {@link Task#posted}. Loop thread only. */
  @Nullable Task takeAll() {
    return top == null ? null : oldestFirst((Task) TOP.getAndSet(this, null));
  }

  /** Accepts no more tasks; returns those that were left. */
  @Nullable Task close() {
    return oldestFirst((Task) TOP.getAndSet(this, CLOSED));
  }

  private static @Nullable Task oldestFirst(@Nullable Task newest) {
    Task oldest = null;
    Task task = newest == CLOSED ? null : newest;
    while (task != null) {
      Task older = task.posted;
      task.posted = oldest;
      oldest = task;
      task = older;
    }
    return oldest;
  }
}
