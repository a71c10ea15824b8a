package dev.belfry.workers;

/** Why a call has no answer. */
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
}
