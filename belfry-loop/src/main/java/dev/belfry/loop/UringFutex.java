package dev.belfry.loop;

import static dev.belfry.linux.Errno.EAGAIN;
import static dev.belfry.linux.Errno.EINTR;
import static dev.belfry.linux.Errno.EINVAL;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.SubmissionQueue;

/** A wait for a word of memory as a request; Linux 6.7. */
final class UringFutex extends UringRequest {
  private final FutexWaits waits;
  private final FutexOperation operation;

  UringFutex(FutexWaits waits, FutexOperation operation) {
    super(null);
    this.waits = waits;
    this.operation = operation;
  }

  FutexOperation operation() {
    return operation;
  }

  @Override
  void prepare(SubmissionQueue queue, long token) {
    queue.futexWait(token, operation.word(), operation.expected());
  }

  @Override
  void completed(int result, int flags) {
    if (result == -EINTR && !withdrawn) {
      waits.again(this);
      return;
    }
    waits.ended(this);
    if (result == 0 || result == -EAGAIN) {
      operation.completeValue();
    } else if (withdrawn) {
      operation.completeStopped();
    } else if (result == -EINVAL) {
      waits.refused(operation);
    } else {
      operation.completeError(new ErrnoException("futex", -result, operation));
    }
  }

  @Override
  void failed(Throwable failure) {
    waits.ended(this);
    operation.completeError(failure);
  }
}
