package dev.belfry.loop;

import org.jspecify.annotations.Nullable;

/** Something the loop runs on its thread. It doubles as a node in the queue of posted tasks. */
abstract class Task implements Runnable {
  /** The next node in the queue; owned by {@link PostedTasks} while posted. */
  @Nullable Task posted;

  /** Whether this was scheduled on the loop; otherwise it runs because of an event. */
  boolean isScheduledWork() {
    return true;
  }

  /** Called instead of {@link #run}, on the posting thread, if the loop has ended. */
  abstract void abandoned();
}
