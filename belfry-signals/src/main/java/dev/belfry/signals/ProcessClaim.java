package dev.belfry.signals;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The right to receive the signals of this process, which one {@link Signals} has at a time: each
 * signal has one receiver, so a second would take them away from the first, whose cleanups then
 * would not run.
 */
final class ProcessClaim implements AutoCloseable {
  private static final AtomicReference<@Nullable ProcessClaim> HOLDER = new AtomicReference<>();

  /** Where it was taken. */
  private final Opened opened = new Opened(Thread.currentThread().getName());

  private ProcessClaim() {}

  /**
   * Takes the signals.
   *
   * @throws IllegalStateException if somebody has them; it says who
   */
  static ProcessClaim take() {
    var claim = new ProcessClaim();
    while (!HOLDER.compareAndSet(null, claim)) {
      ProcessClaim first = HOLDER.get();
      if (first != null) { // else it was closed just now
        throw new IllegalStateException(
            "the signals of this process are open already, "
                + first.opened.getMessage()
                + ": use that one, or close it first; a test opens SignalsTesting",
            first.opened);
      }
    }
    return claim;
  }

  /** Lets another have the signals; a second call does nothing. */
  @Override
  public void close() {
    HOLDER.compareAndSet(this, null);
  }

  /** Shows where the signals were opened; never thrown. */
  private static final class Opened extends Exception {
    private static final long serialVersionUID = 1;

    Opened(String thread) {
      super("opened by " + caller() + " on thread " + thread);
    }

    /** The code outside this module that wants the signals. */
    private static String caller() {
      return StackWalker.getInstance()
          .walk(
              frames ->
                  frames
                      .filter(frame -> !isOurs(frame.getClassName()))
                      .findFirst()
                      .map(frame -> frame.toStackTraceElement().toString())
                      .orElse("nobody known"));
    }

    private static boolean isOurs(String className) {
      return className.startsWith(ProcessClaim.class.getName())
          || className.equals(Signals.class.getName())
          || className.equals(SignalsBuilder.class.getName());
    }
  }
}
