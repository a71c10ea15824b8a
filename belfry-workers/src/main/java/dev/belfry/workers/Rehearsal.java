package dev.belfry.workers;

import dev.belfry.shm.MessageKind;
import dev.belfry.shm.Peer;
import dev.belfry.shm.SendResult;

/**
 * The first calls of a worker, for which nobody waits: one after another goes there and back, the
 * same way as any other. In them a JVM loads, links and compiles what the first caller would
 * otherwise have to wait for; with a spare, that is somebody whose worker has just died. On the
 * loop thread.
 */
final class Rehearsal {
  /** A JVM compiles what it has done 200 times. */
  static final int CALLS = 250;

  /** No call has it: there are none yet. */
  private static final long ID = 1;

  /** For ever, that is. */
  private static final int TIME_LEFT = 0;

  /** Not only what goes into any descriptor, but also what needs a slot. */
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
   * @return false if there is none: the worker is ready
   */
  boolean next() {
    if (sent == CALLS) {
      return false;
    }
    if (!send(REQUESTS[sent % REQUESTS.length])) {
      send(REQUESTS[0]); // for want of a slot
    }
    sent++;
    return true; // if it could not be sent, the worker is about to end
  }

  private boolean send(byte[] request) {
    return peer.send(MessageKind.REQUEST, ID, Protocol.REHEARSAL, request, 0, request.length)
        == SendResult.SENT;
  }
}
