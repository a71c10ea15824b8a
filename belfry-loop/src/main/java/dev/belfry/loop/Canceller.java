package dev.belfry.loop;

/** Cancels an operation when a token fires, and from other threads; made once when needed. */
final class Canceller extends StopCallback {
  private final OperationCore<?> operation;
  private final Message message;

  /** The start that the token watches over. */
  private long watched;

  /** The start that it fired for; by then the operation may have begun another. */
  private long fired;

  Canceller(OperationCore<?> operation) {
    this.operation = operation;
    this.message = new Message(operation);
  }

  /** Has a token watch over a start; false if it has fired already. */
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

  /** Has the loop cancel a start when it gets to it. Any thread but the loop's. */
  void request(long start) {
    message.send(start);
  }

  /** The cancel on its way through the posted tasks; only one, however many cancels there are. */
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
