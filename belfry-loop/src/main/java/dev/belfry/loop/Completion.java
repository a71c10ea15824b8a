package dev.belfry.loop;

/**
 * Is told that an operation has completed; once for each start, on the loop thread. The operation
 * may be started again from here. When the loop has ended, it is the thread that starts.
 *
 * @param <T> the type of the operation's value
 */
@FunctionalInterface
public interface Completion<T> {
  /** The operation has completed; it says how. */
  void completed(Operation<? extends T> operation);
}
