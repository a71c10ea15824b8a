package dev.belfry.workers;

import java.util.concurrent.CancellationException;

/**
 * The answer to a call that was started, which may not be there yet. So one thread has many calls
 * under way and pays for no other thread:
 *
 * {@snippet :
 * List<Answer> answers = new ArrayList<>();
 * for (byte[] picture : pictures) {
 *   answers.add(pool.start("resize", picture, CallOptions.DEFAULT));
 * }
 * for (Answer answer : answers) {
 *   show(answer.await());
 * }
 * }
 *
 * <p>Nobody is told when it comes: it waits to be fetched. For any thread, but one at a time.
 */
public sealed interface Answer permits Call {
  /**
   * Waits for the answer, at most until the deadline of the call.
   *
   * @throws CallException if there is none, and why
   * @throws CancellationException if the call was cancelled
   * @throws InterruptedException if this thread is interrupted; the call goes on
   */
  byte[] await() throws CallException, InterruptedException;

  /**
   * Whether the call has ended, so that {@link #await} would not wait. An answer that nobody has
   * fetched is noticed within a tenth of a second.
   */
  boolean isDone();

  /** Nobody wants the answer any more: the worker is told to stop. Does nothing after the end. */
  void cancel();
}
