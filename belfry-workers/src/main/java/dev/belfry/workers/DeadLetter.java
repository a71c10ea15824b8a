package dev.belfry.workers;

/** The call was given to one worker after another, and each of them died. */
public final class DeadLetter extends CallException {
  private static final long serialVersionUID = 1;

  private final int attempts;
  private final Death death;

  DeadLetter(String method, int attempts, Death death) {
    super(
        "a call of '%s' was given to %d workers, and each died; the last, %s: %s"
            .formatted(method, attempts, death.worker(), death.how()));
    this.attempts = attempts;
    this.death = death;
  }

  /** How many workers had it. */
  public int attempts() {
    return attempts;
  }

  /** How the last of them died. */
  public Death death() {
    return death;
  }
}
