package dev.belfry.shm;

import dev.belfry.linux.ErrnoException;
import java.nio.file.Path;

/**
 * The right of one guest to attach: an entry that is reserved for it, and its end of a doorbell.
 * {@link ShmHost#spawn} uses it up; whoever does not get that far closes it, which gives the entry
 * back.
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

  /** The guest it is for. */
  public Peer peer() {
    return peer;
  }

  /**
   * The arguments for a guest that the caller starts by other means, with a copy of the bell's
   * descriptor under the same number; see {@link Doorbell#inheritable} for what that risks.
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

  /** Gives the entry back, unless a guest uses it; and closes our copy of the guest's end. */
  @Override
  public void close() {
    bell.close();
    peer.life().giveUpUnused();
  }
}
