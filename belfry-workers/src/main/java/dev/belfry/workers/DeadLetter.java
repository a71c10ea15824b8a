package dev.belfry.workers;

/** The call was given to one worker after another, and each of them died. */
public final class DeadLetter extends CallException {
  private static final long serialVersionUID = 1;

  private final int attempts;
  private final Death death;

  DeadLetter(String method, int attempts, Death death) {
    super(
        "a call to '%s' was given to %s: %s"
            .formatted(method, had(attempts, death.worker()), death.how()),
        death);
    this.attempts = attempts;
    this.death = death;
  }

  private static String had(int attempts, String last) {
    return attempts == 1
        ? last + ", which died"
        : attempts + " workers, and each died; the last, " + last;
  }

  /** How many workers had the call. */
  public int attempts() {
    return attempts;
  }

  /** How the last of them died. */
  public Death death() {
    return death;
  }
}
