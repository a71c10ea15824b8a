package dev.belfry.loop;

/**
 * Requests a stop of everything that was given its token. Safe for any thread. One that stops with
 * others, or alone, is tied to theirs for as long as its work takes:
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

  /** A source that has not fired. */
  public StopSource() {}

  /** The token to hand out. */
  public StopToken token() {
    return token;
  }

  /**
   * Requests the stop, once and for all; the callbacks run on this thread. All of them run; what
   * the first to fail throws is thrown at the end.
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
