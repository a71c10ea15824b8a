package dev.belfry.workers;

import java.util.concurrent.CancellationException;

/**
 * A call whose answer is fetched later. One thread can have many calls in flight this way:
 *
 * {@snippet :
 * List<StartedCall> calls = new ArrayList<>();
 * for (byte[] picture : pictures) {
 *   calls.add(pool.start("resize", picture));
 * }
 * for (StartedCall call : calls) {
 *   show(call.await());
 * }
 * }
 *
 * <p>There is no notification when the answer arrives: it waits to be fetched. Any thread may use
 * it, but only one at a time may wait.
 */
public sealed interface StartedCall permits Call {
  /**
   * Waits for the answer, at most until the deadline of the call.
   *
   * @throws CallException if there is no answer, saying why
   * @throws CancellationException if the call was cancelled
   * @throws InterruptedException if this thread is interrupted; the call goes on
   */
  byte[] await() throws CallException, InterruptedException;

  /**
   * Whether the call has ended, so that {@link #await} would not block. While no thread waits, an
   * answer is noticed within a tenth of a second, and the deadline within a second.
   */
  boolean isDone();

  /** Abandons the call: the worker is told to stop. Has no effect once the call has ended. */
  void cancel();
}
