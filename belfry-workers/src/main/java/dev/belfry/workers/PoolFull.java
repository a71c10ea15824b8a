package dev.belfry.workers;

/** No worker had room, and the call was not to wait. */
public final class PoolFull extends CallException {
  private static final long serialVersionUID = 1;

  PoolFull(int inFlight) {
    super("all workers are busy with %d calls".formatted(inFlight));
  }
}
