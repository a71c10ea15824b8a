package dev.belfry.workers;

import dev.belfry.shm.MessageKind;
import dev.belfry.shm.Peer;
import dev.belfry.shm.SendResult;

/**
 * The first calls of a worker, for which no one waits. They go there and back one after another,
 * the same way as any other call. In them a JVM loads, links and compiles what the first caller
 * would otherwise have to wait for; with a spare, that is a caller whose worker has just died. For
 * the loop thread.
 */
final class Rehearsal {
  /** A JVM compiles code that has run 200 times. */
  static final int CALLS = 250;

  /** Not in use: there are no calls yet. */
  private static final long ID = 1;

  /** No deadline. */
  private static final int TIME_LEFT = 0;

  /** One that fits into any descriptor, and one that needs a slot. */
  private static final byte[][] REQUESTS = {
    Protocol.request(new byte[16], TIME_LEFT), Protocol.request(new byte[512], TIME_LEFT)
  };

  private final Peer peer;
  private int sent;

  Rehearsal(Peer peer) {
    this.peer = peer;
  }

  /**
   * Makes the next call, when the worker has answered the one before.
   *
   * @return false if there are no more: the worker is ready
   */
  boolean next() {
    if (sent == CALLS) {
      return false;
    }
    if (!send(REQUESTS[sent % REQUESTS.length])) {
      send(REQUESTS[0]); // no slot is free
    }
    sent++;
    return true; // if it could not be sent, the worker is about to end
  }

  private boolean send(byte[] request) {
    return peer.send(MessageKind.REQUEST, ID, Protocol.REHEARSAL, request, 0, request.length)
        == SendResult.SENT;
  }
}
