package dev.belfry.loop;

import static java.lang.System.Logger.Level.ERROR;

import org.jspecify.annotations.Nullable;

/**
 * The work a loop has to run: that of this turn, that of the next turn, and tasks posted by other
 * threads. Only {@link #post} and {@link #hasPosted} may be called from other threads.
 */
final class Work {
  private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());

  /** How much follow-up work runs in one go before the loop looks for events again. */
  private static final int MORE_PER_TURN = 10_000;

  private final LoopMetrics metrics;
  private final TaskQueue ready = new TaskQueue();
  private final TaskQueue next = new TaskQueue();
  private final PostedTasks posted = new PostedTasks();
  private boolean inScheduledWork;
  private int handled;

  /** How many internal tasks ran: cancels and closes from other threads, postponed work. */
  private int errands;

  /** The coroutine that is running; the watchdog reads it and may see a stale value. */
  private @Nullable Coroutine<?> runningCoroutine;

  Work(LoopMetrics metrics) {
    this.metrics = metrics;
  }

  /** Posts a task without waking the loop; false if the loop has ended. Any thread. */
  boolean post(Task task) {
    return posted.offer(task);
  }

  /** Whether other threads have posted tasks; any thread. */
  boolean hasPosted() {
    return !posted.isEmpty();
  }

  /** Queues a completion, which runs in this turn. */
  void addCompletion(Task task) {
    ready.add(task);
  }

  /** Queues posted work: for this turn if an event caused it, for the next if other work did. */
  // r[impl loop.wait.drain-both]
  void addScheduled(Task task) {
    (inScheduledWork ? next : ready).add(task);
  }

  /** Queues something for the next turn. */
  void addNext(Task task) {
    next.add(task);
  }

  /** Whether nothing is queued; posted tasks do not count. */
  boolean isEmpty() {
    return ready.isEmpty() && next.isEmpty();
  }

  /** Resets the counts of handled work. */
  void beginCount() {
    handled = 0;
    errands = 0;
  }

  void operationHandled() {
    handled++;
  }

  int handled() {
    return handled;
  }

  /** Whether nothing was handled and nothing ran that may have changed what the loop waits for. */
  boolean wasIdle() {
    return handled == 0 && errands == 0;
  }

  @Nullable Coroutine<?> runningCoroutine() {
    return runningCoroutine;
  }

  /** Moves the work postponed to this turn into the run queue. */
  void takeNext() {
    int count = next.size();
    for (int i = 0; i < count; i++) {
      Task task = next.poll();
      if (task != null) {
        ready.add(task);
      }
    }
  }

  /** Moves the posted tasks into the run queue. */
  void takePosted() {
    queue(posted.takeAll());
  }

  private void queue(@Nullable Task oldest) {
    int count = 0;
    for (Task task = oldest; task != null; count++) {
      Task following = task.posted;
      task.posted = null;
      ready.add(task);
      task = following;
    }
    if (count > 0) {
      metrics.posted(count);
    }
  }

  /** Runs the queued work of this turn and, up to a limit, the work that follows from it. */
  void run() {
    metrics.queueDepth(ready.size());
    Task task;
    int budget = ready.size() + MORE_PER_TURN; // against operations that fail forever
    while (budget-- > 0 && (task = ready.poll()) != null) {
      // Work posted by an operation's completion belongs to this turn, work posted by tasks does
      // not.
      inScheduledWork = task.isScheduledWork();
      runningCoroutine = task instanceof Coroutine<?> coroutine ? coroutine : null;
      long began = metrics.taskBegins();
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        LOG.log(ERROR, "an exception escaped from work on the loop; the loop goes on", e);
      }
      metrics.taskEnded(began);
      if (!(task instanceof Operation)) { // an operation is counted when it completes
        if (task instanceof RunnableTask || runningCoroutine != null) {
          handled++;
        } else {
          errands++;
        }
      }
    }
    inScheduledWork = false;
    runningCoroutine = null;
  }

  /** Closes the queue of posted tasks and runs all that is left, without a limit. */
  void end() {
    queue(posted.close());
    while (!isEmpty()) {
      takeNext();
      run();
    }
  }
}
