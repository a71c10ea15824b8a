package dev.belfry.loop;

import static java.lang.System.Logger.Level.ERROR;

import org.jspecify.annotations.Nullable;

/**
 * What a loop has to run: the work of this turn, that of the next, and what other threads have
 * posted. All but {@link #post} and {@link #hasPosted} is for the loop thread.
 */
final class Work {
  private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());

  /** How much of the work that follows from work is done before the loop looks around. */
  private static final int MORE_PER_TURN = 10_000;

  private final LoopMetrics metrics;
  private final TaskQueue ready = new TaskQueue();
  private final TaskQueue next = new TaskQueue();
  private final PostedTasks posted = new PostedTasks();
  private boolean inScheduledWork;
  private int handled;

  /** What ran of the loop's own: cancels and closes on their way, what was put off. */
  private int errands;

  /** The coroutine that has the thread; the watchdog reads it and may see an old one. */
  private @Nullable Coroutine<?> runningCoroutine;

  Work(LoopMetrics metrics) {
    this.metrics = metrics;
  }

  /** Brings a task to the loop, which has yet to be woken; false if it has ended. Any thread. */
  boolean post(Task task) {
    return posted.offer(task);
  }

  /** Whether there is something that other threads have posted; any thread. */
  boolean hasPosted() {
    return !posted.isEmpty();
  }

  /** Queues a completion: it runs in this turn. */
  void addCompletion(Task task) {
    ready.add(task);
  }

  /** Queues posted work: in this turn if an event brought it, in the next if other work did. */
  // r[impl loop.wait.drain-both]
  void addScheduled(Task task) {
    (inScheduledWork ? next : ready).add(task);
  }

  /** Queues something for the next turn. */
  void addNext(Task task) {
    next.add(task);
  }

  /** Whether nothing is queued; what is posted does not count. */
  boolean isEmpty() {
    return ready.isEmpty() && next.isEmpty();
  }

  /** Begins to count, from zero, what the loop handles. */
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

  /**
   * Whether nothing was handled, and nothing ran that may have changed what there is to wait for.
   */
  boolean wasIdle() {
    return handled == 0 && errands == 0;
  }

  @Nullable Coroutine<?> runningCoroutine() {
    return runningCoroutine;
  }

  /** Lets what was put off to this turn run. */
  void takeNext() {
    int count = next.size();
    for (int i = 0; i < count; i++) {
      Task task = next.poll();
      if (task != null) {
        ready.add(task);
      }
    }
  }

  /** Lets what was posted run. */
  void takePosted() {
    int count = queue(posted.takeAll());
    if (count > 0) {
      metrics.posted(count);
    }
  }

  private int queue(@Nullable Task oldest) {
    int count = 0;
    for (Task task = oldest; task != null; count++) {
      Task following = task.posted;
      task.posted = null;
      ready.add(task);
      task = following;
    }
    return count;
  }

  /** Runs what is queued for this turn, and what that brings about, within reason. */
  void run() {
    metrics.queueDepth(ready.size());
    Task task;
    int budget = ready.size() + MORE_PER_TURN; // else an operation that always fails starves others
    while (budget-- > 0 && (task = ready.poll()) != null) {
      // What an operation's completion posts belongs to this turn, what other work posts does not.
      inScheduledWork = task.isScheduledWork();
      runningCoroutine = task instanceof Coroutine<?> coroutine ? coroutine : null;
      long began = metrics.taskBegins();
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        LOG.log(ERROR, "an exception escaped from work on the loop; the loop goes on", e);
      }
      metrics.taskEnded(began);
      if (!(task instanceof Operation)) { // which counts when it completes
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

  /** Takes nothing more from other threads and runs all that is left, however much that is. */
  void end() {
    queue(posted.close());
    while (!isEmpty()) {
      takeNext();
      run();
    }
  }
}
