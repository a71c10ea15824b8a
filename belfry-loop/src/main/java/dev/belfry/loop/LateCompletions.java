package dev.belfry.loop;

import static java.lang.System.Logger.Level.ERROR;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Completes operations started on a loop that has ended, on the starting thread, because there is
 * no loop thread. Operations that a completion starts complete after it returns, so that the stack
 * does not grow.
 */
final class LateCompletions {
  private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());

  /** The instance of the current thread, while it runs completions. */
  private static final ThreadLocal<@Nullable LateCompletions> RUNNING = new ThreadLocal<>();

  private final ArrayDeque<OperationCore<?>> waiting = new ArrayDeque<>();
  private int started;

  private LateCompletions() {}

  /** Whether a start is worth completing: not if completions keep starting operations. */
  static boolean bearStart() {
    LateCompletions running = RUNNING.get();
    return running == null || ++running.started <= LoopCore.MAX_REFUSALS;
  }

  /** Completes an operation, now or after the completion that is running. */
  static void add(OperationCore<?> operation) {
    LateCompletions running = RUNNING.get();
    if (running != null) {
      running.waiting.add(operation);
      return;
    }
    var late = new LateCompletions();
    late.waiting.add(operation);
    RUNNING.set(late);
    try {
      late.run();
    } finally {
      RUNNING.remove();
    }
  }

  private void run() {
    OperationCore<?> operation;
    while ((operation = waiting.poll()) != null) {
      try {
        operation.finish();
      } catch (RuntimeException | Error e) {
        LOG.log(ERROR, "an exception escaped from a completion after the end of its loop", e);
      }
    }
  }
}
