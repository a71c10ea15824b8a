package dev.belfry.workers;

/** Workers die one after another before they have done anything, so no more are started. */
public final class CircuitOpen extends CallException {
  private static final long serialVersionUID = 1;

  CircuitOpen(int deaths) {
    super(
        "%d workers in a row died before they had done anything; look at their output, then reset the pool"
            .formatted(deaths));
  }
}
