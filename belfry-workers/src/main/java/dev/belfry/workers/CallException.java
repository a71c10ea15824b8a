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

  /** A call that ended so because a worker died: its last words are the cause. */
  CallException(String message, Death death) {
    super(message, LastWords.of(death));
  }
}
