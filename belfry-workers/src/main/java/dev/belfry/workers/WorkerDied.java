package dev.belfry.workers;

/** The worker died while it had the call. The call may have been carried out, wholly or in part. */
public final class WorkerDied extends CallException {
  private static final long serialVersionUID = 1;

  private final Death death;

  WorkerDied(String method, Death death) {
    super(
        "%s died while it had a call to '%s': %s".formatted(death.worker(), method, death.how()),
        death);
    this.death = death;
  }

  /** How the worker died. */
  public Death death() {
    return death;
  }
}
