package dev.belfry.workers;

/** The answer did not come in time. The worker, if one had the call, was told to stop. */
public final class DeadlinePassed extends CallException {
  private static final long serialVersionUID = 1;

  private DeadlinePassed(String what, Call call) {
    super("%s '%s' within %d ms".formatted(what, call.method, call.options.deadline().toMillis()));
  }

  /** It was given to a worker. */
  static DeadlinePassed noAnswer(Call call) {
    return new DeadlinePassed("no answer from", call);
  }

  /**
   * It could not be given to a worker.
   *
   * @param isAnyReady whether there is a worker, which has no room
   */
  static DeadlinePassed noRoom(Call call, boolean isAnyReady) {
    return new DeadlinePassed(
        isAnyReady ? "no worker had room for" : "no worker was ready for", call);
  }
}
