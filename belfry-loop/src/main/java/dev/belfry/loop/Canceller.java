package dev.belfry.loop;

/** Cancels an operation when its token fires, and for other threads; created when needed. */
final class Canceller extends StopCallback {
  private final OperationCore<?> operation;
  private final Message message;

  /** The start that the token was registered for. */
  private long watched;

  /** The start that the token fired for; the operation may have begun another since. */
  private long fired;

  Canceller(OperationCore<?> operation) {
    this.operation = operation;
    this.message = new Message(operation);
  }

  /** Registers a start with a token; false if the token has fired already. */
  boolean watch(StopToken token, long start) {
    watched = start;
    return token.register(this);
  }

  @Override
  void taken() {
    fired = watched;
  }

  @Override
  void stopRequested() {
    operation.cancel(fired);
  }

  /** Makes the loop cancel a start when it gets to it. Any thread but the loop's. */
  void request(long start) {
    message.send(start);
  }

  /** The cancel as a posted task; a single one, however many cancels there are. */
  private static final class Message extends Task {
    private final OperationCore<?> operation;
    private boolean underWay;
    private long start;

    Message(OperationCore<?> operation) {
      this.operation = operation;
    }

    void send(long which) {
      synchronized (this) {
        start = underWay ? Math.max(start, which) : which;
        if (underWay) {
          return;
        }
        underWay = true;
      }
      operation.loop.post(this);
    }

    @Override
    public void run() {
      long which;
      synchronized (this) {
        underWay = false;
        which = start;
      }
      operation.cancelNow(which);
    }

    @Override
    void abandoned() {} // the loop has ended, and with it the operation
  }
}
