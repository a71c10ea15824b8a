package dev.belfry.loop;

import static dev.belfry.linux.Errno.EINTR;

import dev.belfry.linux.SubmissionQueue;
import java.util.List;

/** Opens a file as a request, so that the kernel waits for the disk. */
final class UringOpen extends UringRequest {
  final OpenOperation operation;
  private final Uring uring;
  private final List<UringOpen> opening;

  /**
   * Creates a request for an operation.
   *
   * @param opening the requests under way, from which it removes itself when it has completed
   */
  UringOpen(Uring uring, OpenOperation operation, List<UringOpen> opening) {
    super(null);
    this.uring = uring;
    this.operation = operation;
    this.opening = opening;
  }

  @Override
  void prepare(SubmissionQueue queue, long token) {
    queue.open(token, operation.request());
  }

  @Override
  void completed(int result, int flags) {
    if (result < 0 && withdrawn) {
      stopped();
    } else if (result == -EINTR) {
      uring.want(this);
    } else {
      opening.remove(this);
      operation.opened(result);
    }
  }

  void stopped() {
    opening.remove(this);
    operation.completeStopped();
  }

  @Override
  void failed(Throwable failure) {
    opening.remove(this);
    operation.completeError(failure);
  }
}
