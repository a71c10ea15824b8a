package dev.belfry.workers;

/** The answer did not arrive in time. The worker, if one had the call, was told to stop. */
public final class DeadlinePassed extends CallException {
  private static final long serialVersionUID = 1;

  private DeadlinePassed(String what, Call call) {
    super("%s '%s' within %d ms".formatted(what, call.method, call.options.deadline().toMillis()));
  }

  /** For a call that a worker had. */
  static DeadlinePassed noAnswer(Call call) {
    return new DeadlinePassed("no answer from", call);
  }

  /**
   * For a call that no worker has taken.
   *
   * @param isAnyReady whether there are workers, but none with room
   */
  static DeadlinePassed noRoom(Call call, boolean isAnyReady) {
    return new DeadlinePassed(
        isAnyReady ? "no worker had room for" : "no worker was ready for", call);
  }
}
