package dev.belfry.workers;

/** The worker died while it had the call; it may have done it, or a part of it. */
public final class WorkerDied extends CallException {
  private static final long serialVersionUID = 1;

  private final Death death;

  WorkerDied(String method, Death death) {
    super(
        "%s died while it had a call to '%s': %s".formatted(death.worker(), method, death.how()),
        death);
    this.death = death;
  }

  /** How it died. */
  public Death death() {
    return death;
  }
}
