package dev.belfry.loop;

/**
 * The callback of an operation. Called once per start, on the loop thread, or on the starting
 * thread once the loop has ended. It may start the operation again.
 *
 * @param <T> the type of the operation's value
 */
@FunctionalInterface
public interface Completion<T> {
  /** Called when the operation has completed; its {@link Operation#outcome()} says how. */
  void completed(Operation<? extends T> operation);
}
