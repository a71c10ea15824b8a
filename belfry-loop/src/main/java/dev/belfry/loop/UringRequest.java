package dev.belfry.loop;

import dev.belfry.linux.CompletionQueue;
import dev.belfry.linux.SubmissionQueue;
import org.jspecify.annotations.Nullable;

/**
 * Something the kernel is asked to do. It is written to the ring when the loop is about to wait,
 * and not before, so that what it names is still there; then it is the kernel's until its last
 * completion has come. The same object is used again and again.
 */
abstract class UringRequest {
  private static final int NOWHERE = -1;

  /** The handle that must stay open while the kernel has this; null if there is none. */
  final @Nullable UringHandle owner;

  // For Uring alone.

  /** Whether it stands in the queue of those to be written, wanted or not. */
  boolean queued;

  /** Whether it is to be written. */
  boolean wanted;

  /** Where the ring finds it when it completes, while the kernel has it. */
  int slot = NOWHERE;

  /** Whether the kernel was asked to give it back. */
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

  /** Writes it to the ring; throws if that is impossible, such as with memory that was freed. */
  abstract void prepare(SubmissionQueue queue, long token);

  /**
   * Takes a completion; unless more follow, the kernel no longer has the request.
   *
   * @param result zero or more, or {@code -errno}
   * @param flags what else the completion says, as {@link CompletionQueue} has it; or zero
   */
  abstract void completed(int result, int flags);

  /** It could not be written. */
  abstract void failed(Throwable failure);
}
