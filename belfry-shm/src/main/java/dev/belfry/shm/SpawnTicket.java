package dev.belfry.shm;

import dev.belfry.linux.ErrnoException;
import java.nio.file.Path;

/**
 * The right of one guest to attach: an entry that is reserved for it, and its end of a doorbell.
 * {@link ShmHost#spawn} uses it up; closing an unused ticket releases the entry.
 */
// r[impl shm.spawn.ticket]
public final class SpawnTicket implements AutoCloseable {
  private final Peer peer;
  private final Path path;
  private final Doorbell bell;

  SpawnTicket(Peer peer, Path path, Doorbell bell) {
    this.peer = peer;
    this.path = path;
    this.bell = bell;
  }

  /** The guest that this ticket is for. */
  public Peer peer() {
    return peer;
  }

  /**
   * The arguments for a guest that the caller starts by other means. The guest must inherit the
   * bell's descriptor under the same number; see {@link Doorbell#inheritable} for the risks.
   */
  public SpawnArguments arguments() {
    return new SpawnArguments(path, peer.id(), bell.descriptor());
  }

  /** Lets children inherit the guest's end of the bell; see {@link Doorbell#inheritable}. */
  public void inheritable() throws ErrnoException {
    bell.inheritable();
  }

  /** Closes our copy of the guest's end: the guest has its own. */
  void used() {
    bell.close();
  }

  int doorbell() {
    return bell.descriptor();
  }

  /** Closes our copy of the guest's end, and releases the entry unless a guest uses it. */
  @Override
  public void close() {
    bell.close();
    peer.life().giveUpUnused();
  }
}
