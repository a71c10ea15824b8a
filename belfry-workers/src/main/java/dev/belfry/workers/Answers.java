package dev.belfry.workers;

import dev.belfry.shm.FutexWait;
import dev.belfry.shm.MessageKind;
import dev.belfry.shm.SegmentConfig;
import dev.belfry.shm.ShmGuest;
import java.util.Collection;

/** What a worker sends to its pool. Thread-safe. */
final class Answers {
  private static final byte[] NOTHING = new byte[0];

  private final ShmGuest guest;
  private final Outgoing outgoing;

  Answers(ShmGuest guest) {
    this.guest = guest;
    SegmentConfig config = guest.segment().config();
    this.outgoing = new Outgoing(guest, config.maxPayloadSize(), config.initialCredit());
  }

  /** Sends the first message, which names the methods. */
  void sayHello(Collection<String> methods) {
    byte[] hello = Protocol.hello(methods);
    if (!outgoing.fits(hello.length)) {
      throw new IllegalStateException(
          "the names of all methods have %d bytes, which do not fit into one message"
              .formatted(hello.length));
    }
    sendAtOnce(Protocol.HELLO, 0, hello);
  }

  /** Answers a call with a status only. */
  void send(long id, Status status) {
    sendAtOnce(id, status.number(), NOTHING);
  }

  /** Answers a call. If the pool is gone, the answer is dropped: no one waits for it. */
  void send(long id, Status status, byte[] bytes) {
    if (bytes.length > Protocol.MAX_BYTES) {
      send(id, Status.TOO_LONG);
    } else if (outgoing.fits(bytes.length)) {
      sendAtOnce(id, status.number(), bytes);
    } else {
      outgoing.sendInChunks(
          MessageKind.RESPONSE,
          id,
          status.number() | Protocol.ANSWER_IN_CHUNKS,
          channel -> Protocol.answer(channel, bytes.length),
          bytes,
          this::isPoolGone,
          FutexWait.FOREVER);
    }
  }

  private void sendAtOnce(long id, long methodField, byte[] bytes) {
    outgoing.send(
        MessageKind.RESPONSE, id, methodField, bytes, this::isPoolGone, FutexWait.FOREVER);
  }

  boolean isPoolGone() {
    return guest.end().isPresent();
  }
}
