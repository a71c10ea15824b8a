package dev.belfry.shm;

import dev.belfry.linux.ExitStatus;
import org.jspecify.annotations.Nullable;

/**
 * Notified of what happens to a guest. Methods run on the host's loop thread and must be quick.
 * Exceptions are logged and otherwise ignored.
 */
// r[impl shm.death.callback]
public interface PeerListener {
  /** A listener that does nothing. */
  PeerListener NONE = new PeerListener() {};

  /** The guest has attached. */
  default void onAttached(Peer peer) {}

  /**
   * The guest is ending or has ended: give it no more work. What it has sent so far is still
   * delivered. Called once for each guest that was spawned or has attached.
   */
  default void onDying(Peer peer, Witness witness) {}

  /**
   * The guest's process has ended, and everything it sent has been delivered. Called once, after
   * {@link #onDying}. The entry becomes free when this returns.
   *
   * @param status how the process ended; null if this host did not spawn it
   */
  default void onGone(Peer peer, @Nullable ExitStatus status) {}

  /**
   * The guest has shown no sign of life for more than two heartbeat intervals. It may be stopped,
   * or the machine may be busy: this is not a death. Called once each time it happens.
   */
  default void onStuck(Peer peer) {}
}
