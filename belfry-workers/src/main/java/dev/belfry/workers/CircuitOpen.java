package dev.belfry.workers;

/** Workers died one after another before they had served, so no more are started. */
public final class CircuitOpen extends CallException {
  private static final long serialVersionUID = 1;

  private final Death death;

  CircuitOpen(int deaths, Death death) {
    super(
        "%d workers in a row died before they had finished a call, and no more are started until the pool is reset (as 'belfry run' does on USR2); %s: %s"
            .formatted(deaths, death.worker(), death.how()),
        death);
    this.death = death;
  }

  /** How the last of them died. */
  public Death death() {
    return death;
  }
}
