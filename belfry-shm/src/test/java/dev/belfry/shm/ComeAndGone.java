package dev.belfry.shm;

import dev.belfry.linux.ExitStatus;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/** Records the guests that have attached and those that are gone, for a test to wait for. */
final class ComeAndGone implements PeerListener {
  final BlockingQueue<Peer> come = new LinkedBlockingQueue<>();
  final BlockingQueue<Peer> gone = new LinkedBlockingQueue<>();

  @Override
  public void onAttached(Peer peer) {
    come.add(peer);
  }

  @Override
  public void onGone(Peer peer, @Nullable ExitStatus status) {
    gone.add(peer);
  }
}
