package dev.belfry.loop;

import dev.belfry.linux.CompletionQueue;
import dev.belfry.linux.SubmissionQueue;
import org.jspecify.annotations.Nullable;

/**
 * A request to the kernel. It is written to the ring only when the loop is about to wait, so that
 * the memory it refers to is still allocated. It then belongs to the kernel until its last
 * completion. Requests are reused.
 */
abstract class UringRequest {
  private static final int NOWHERE = -1;

  /** The handle that must stay open while the kernel has this request; null if there is none. */
  final @Nullable UringHandle owner;

  // For Uring only.

  /** Whether it is in the queue of requests to write, wanted or not. */
  boolean queued;

  /** Whether it is to be written. */
  boolean wanted;

  /** Its slot in the table, while the kernel has it. */
  int slot = NOWHERE;

  /** Whether the kernel was asked to cancel it. */
  boolean withdrawn;

  UringRequest(@Nullable UringHandle owner) {
    this.owner = owner;
  }

  /** Whether the kernel has it. */
  final boolean isWithKernel() {
    return slot != NOWHERE;
  }

  /** Whether the kernel has it or will get it. */
  final boolean isUnderWay() {
    return wanted || slot != NOWHERE;
  }

  final void leavesKernel() {
    slot = NOWHERE;
  }

  /** Writes it to the ring; throws if that is impossible, for example because memory was freed. */
  abstract void prepare(SubmissionQueue queue, long token);

  /**
   * Handles a completion. Unless more follow, the kernel no longer has the request.
   *
   * @param result zero or more, or {@code -errno}
   * @param flags the flags of the completion, see {@link CompletionQueue}; or zero
   */
  abstract void completed(int result, int flags);

  /** It could not be written. */
  abstract void failed(Throwable failure);
}
