package dev.belfry.shm;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The options of a host for one guest. Immutable: each {@code with} method returns a copy with one
 * value changed.
 *
 * @param name the guest's name in log messages and exceptions
 * @param listener notified when the guest attaches and ends
 * @param handler receives its messages on the loop thread; null if threads fetch them with {@link
 *     Peer#receive}
 * @param strategy how threads wait for the guest
 * @param attachLimit how long the guest may take from its start until it has attached
 * @param killLimit how long its process may survive the first sign of its death
 */
public record PeerOptions(
    String name,
    PeerListener listener,
    @Nullable MessageHandler handler,
    WaitStrategy strategy,
    Duration attachLimit,
    Duration killLimit) {

  /** No listener, no handler, 30 seconds to attach, one second to die. */
  public static final PeerOptions DEFAULT =
      new PeerOptions(
          "guest",
          PeerListener.NONE,
          null,
          WaitStrategy.ADAPTIVE,
          Duration.ofSeconds(30),
          Duration.ofSeconds(1));

  /** A copy with another name. */
  public PeerOptions withName(String text) {
    return new PeerOptions(text, listener, handler, strategy, attachLimit, killLimit);
  }

  /** A copy with another listener. */
  public PeerOptions withListener(PeerListener told) {
    return new PeerOptions(name, told, handler, strategy, attachLimit, killLimit);
  }

  /** A copy with a handler, which receives the messages on the loop thread. */
  public PeerOptions withHandler(MessageHandler gets) {
    return new PeerOptions(name, listener, gets, strategy, attachLimit, killLimit);
  }

  /** A copy with another wait strategy. */
  public PeerOptions withStrategy(WaitStrategy how) {
    return new PeerOptions(name, listener, handler, how, attachLimit, killLimit);
  }

  /** A copy with another limit for attaching. */
  public PeerOptions withAttachLimit(Duration limit) {
    return new PeerOptions(name, listener, handler, strategy, limit, killLimit);
  }

  /** A copy with another limit for dying. */
  public PeerOptions withKillLimit(Duration limit) {
    return new PeerOptions(name, listener, handler, strategy, attachLimit, limit);
  }
}
