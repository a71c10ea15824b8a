package dev.belfry.shm;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a host deals with a guest; each method gives a copy with one thing changed.
 *
 * @param name names it in messages
 * @param listener is told of its attaching and its end
 * @param handler gets its messages on the loop; null if threads fetch them with {@link
 *     Peer#receive}
 * @param strategy how threads wait for it
 * @param attachLimit how long it may take from its start until it has attached
 * @param killLimit how long a process may live on after a sign of its death
 */
public record PeerOptions(
    String name,
    PeerListener listener,
    @Nullable MessageHandler handler,
    WaitStrategy strategy,
    Duration attachLimit,
    Duration killLimit) {

  /** Nobody is told, messages are fetched, half a minute to attach, a second to die. */
  public static final PeerOptions DEFAULT =
      new PeerOptions(
          "guest",
          PeerListener.NONE,
          null,
          WaitStrategy.ADAPTIVE,
          Duration.ofSeconds(30),
          Duration.ofSeconds(1));

  /** The same with a name. */
  public PeerOptions withName(String text) {
    return new PeerOptions(text, listener, handler, strategy, attachLimit, killLimit);
  }

  /** The same with a listener. */
  public PeerOptions withListener(PeerListener told) {
    return new PeerOptions(name, told, handler, strategy, attachLimit, killLimit);
  }

  /** The same with messages handed out on the loop. */
  public PeerOptions withHandler(MessageHandler gets) {
    return new PeerOptions(name, listener, gets, strategy, attachLimit, killLimit);
  }

  /** The same with a way of waiting. */
  public PeerOptions withStrategy(WaitStrategy how) {
    return new PeerOptions(name, listener, handler, how, attachLimit, killLimit);
  }

  /** The same with a limit for attaching. */
  public PeerOptions withAttachLimit(Duration limit) {
    return new PeerOptions(name, listener, handler, strategy, limit, killLimit);
  }

  /** The same with a limit for dying. */
  public PeerOptions withKillLimit(Duration limit) {
    return new PeerOptions(name, listener, handler, strategy, attachLimit, limit);
  }
}
