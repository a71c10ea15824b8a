package dev.belfry.loop;

import static java.lang.System.Logger.Level.ERROR;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Completes what is started on a loop that has ended, on the thread that starts it, because there
 * is no loop thread any more. What a completion starts comes after that completion, so that the
 * stack does not grow with each start.
 */
final class LateCompletions {
  private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());

  /** Those of the thread, while it runs one of them. */
  private static final ThreadLocal<@Nullable LateCompletions> RUNNING = new ThreadLocal<>();

  private final ArrayDeque<OperationCore<?>> waiting = new ArrayDeque<>();
  private int started;

  private LateCompletions() {}

  /** Whether a start is worth completing: not if completions do nothing but start again. */
  static boolean bearStart() {
    LateCompletions running = RUNNING.get();
    return running == null || ++running.started <= LoopCore.MAX_REFUSALS;
  }

  /** Has the completion of an operation told, now or after the one that is running. */
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
