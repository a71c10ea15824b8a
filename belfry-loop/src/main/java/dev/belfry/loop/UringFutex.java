package dev.belfry.loop;

import static dev.belfry.linux.Errno.EAGAIN;
import static dev.belfry.linux.Errno.EINTR;
import static dev.belfry.linux.Errno.EINVAL;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.SubmissionQueue;

/** A wait for a word of memory as a request; Linux 6.7. */
final class UringFutex extends UringRequest {
  private final UringDriver driver;
  private final FutexOperation operation;

  UringFutex(UringDriver driver, FutexOperation operation) {
    super(null);
    this.driver = driver;
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
      driver.waitAgain(this);
      return;
    }
    driver.ended(this);
    if (result == 0 || result == -EAGAIN) {
      operation.completeValue();
    } else if (withdrawn) {
      operation.completeStopped();
    } else if (result == -EINVAL) {
      driver.waitOnThread(operation); // an older kernel
    } else {
      operation.completeError(new ErrnoException("futex", -result, operation));
    }
  }

  @Override
  void failed(RuntimeException failure) {
    driver.ended(this);
    operation.completeError(failure);
  }
}
