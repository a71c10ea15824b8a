package dev.belfry.loop;

/**
 * Requests a stop of everything that was given its token. Thread-safe. To stop one piece of work
 * alone or together with others, link its source to their token for as long as the work lasts:
 *
 * {@snippet :
 * var one = new StopSource();
 * try (StopToken.Registration tie = all.token().onStop(one::requestStop)) {
 *   socket.readSome(buffer).await(one.token());
 * }
 * }
 */
public final class StopSource {
  private final StopToken token = new StopToken();

  /** Creates a source that has not fired. */
  public StopSource() {}

  /** The token to hand out. */
  public StopToken token() {
    return token;
  }

  /**
   * Requests the stop, for good. All callbacks run, on this thread; the first exception that one of
   * them throws is thrown at the end.
   *
   * @return whether this was the first request
   */
  public boolean requestStop() {
    return token.stop();
  }

  /** Whether a stop was requested. */
  public boolean isStopRequested() {
    return token.isStopRequested();
  }
}
