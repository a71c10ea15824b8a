package dev.belfry.loop;

import org.jspecify.annotations.Nullable;

/** Something the loop runs on its thread. It is its own place in the queue other threads use. */
abstract class Task implements Runnable {
  /** The task posted before this one; belongs to {@link PostedTasks} while posted. */
  @Nullable Task posted;

  /** Whether somebody scheduled this on the loop; else it runs because something has happened. */
  boolean isScheduledWork() {
    return true;
  }

  /** Called instead of {@link #run}, on the poster's thread, when the loop has ended for good. */
  abstract void abandoned();
}
