package dev.belfry.shm;

import dev.belfry.linux.ExitStatus;
import org.jspecify.annotations.Nullable;

/**
 * Is told what happens to a guest, on the host's loop thread; so it has to be quick. What it throws
 * is logged and disturbs nobody.
 */
// r[impl shm.death.callback]
public interface PeerListener {
  /** One that does not care. */
  PeerListener NONE = new PeerListener() {};

  /** The guest has attached. */
  default void onAttached(Peer peer) {}

  /**
   * The guest is ending or has ended: give it nothing more to do. What it has sent until then still
   * arrives. Once for each guest that was started or has attached.
   */
  default void onDying(Peer peer, Witness witness) {}

  /**
   * The guest's process has ended, and all it had sent was delivered. Once, after {@link #onDying}.
   * Its entry is free for another when this returns.
   *
   * @param status how it ended; null if it was not this host that started it
   */
  default void onGone(Peer peer, @Nullable ExitStatus status) {}

  /**
   * For more than two intervals the guest has not shown that it lives. It may be stopped, or the
   * machine busy: this is no death. Once each time that it happens.
   */
  default void onStuck(Peer peer) {}
}
