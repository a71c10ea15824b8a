package dev.belfry.signals;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The right to receive the signals of this process, held by one {@link Signals} at a time. Each
 * signal has one receiver: a second {@code Signals} would take the signals away from the first,
 * whose cleanups would then never run.
 */
final class ProcessClaim implements AutoCloseable {
  private static final AtomicReference<@Nullable ProcessClaim> HOLDER = new AtomicReference<>();

  /** Where the claim was taken. */
  private final Opened opened = new Opened(Thread.currentThread().getName());

  private ProcessClaim() {}

  /**
   * Takes the claim.
   *
   * @throws IllegalStateException if it is already held; the message says where it was taken
   */
  static ProcessClaim take() {
    var claim = new ProcessClaim();
    while (!HOLDER.compareAndSet(null, claim)) {
      ProcessClaim first = HOLDER.get();
      if (first != null) { // else it was closed just now: try again
        throw new IllegalStateException(
            "the signals of this process are open already, "
                + first.opened.getMessage()
                + ": use that one, or close it first; a test opens SignalsTesting",
            first.opened);
      }
    }
    return claim;
  }

  /** Releases the claim; a second call does nothing. */
  @Override
  public void close() {
    HOLDER.compareAndSet(this, null);
  }

  /** Records where the signals were opened; used as a cause, never thrown. */
  private static final class Opened extends Exception {
    private static final long serialVersionUID = 1;

    Opened(String thread) {
      super("opened by " + caller() + " on thread " + thread);
    }

    /** The code outside the library that opens the signals. */
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
