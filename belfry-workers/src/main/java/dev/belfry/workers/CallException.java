package dev.belfry.workers;

/** The reason why a call has no answer. */
public abstract sealed class CallException extends Exception
    permits CircuitOpen,
        DeadLetter,
        DeadlinePassed,
        MethodFailed,
        PoolClosed,
        PoolFull,
        UnknownMethod,
        WorkerDied {
  private static final long serialVersionUID = 1;

  CallException(String message) {
    super(message);
  }

  /** For a call that a worker's death ended: the worker's last words are the cause. */
  CallException(String message, Death death) {
    super(message, LastWords.of(death));
  }
}
