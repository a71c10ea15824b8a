package dev.belfry.shm;

import dev.belfry.loop.EventLoop;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One end of what a host and a guest have to say to each other: the host has a {@link Peer} for
 * each guest, the guest is a {@link ShmGuest}. For any number of threads.
 *
 * <p>A deadline is a time of {@link System#nanoTime}, or {@link FutexWait#FOREVER}.
 *
 * <p>If the other side has written what a correct one cannot, that ends the connection, whichever
 * call comes upon it. Those that receive say so by a {@link ProtocolViolation}, because what they
 * were asked for is spoiled; to all others it is an end like any other.
 */
public abstract sealed class Messenger permits Peer, ShmGuest {
  private final Exchange exchange;
  private final Room room;

  Messenger(Exchange exchange) {
    this.exchange = exchange;
    this.room = new Room(exchange.link());
  }

  final Exchange exchange() {
    return exchange;
  }

  /** What to throw for a fault that was reported too late for the link to catch it. */
  final SegmentLost lost(InternalError late) {
    return exchange.link().segment().lost(late);
  }

  /** The other side has written what a correct one cannot: nothing more is to be had of it. */
  abstract void violated(ProtocolViolation violation);

  /**
   * Waits until there is somebody to talk to, as a host does for a guest that it has only started.
   *
   * @return {@code OVER} if there never will be
   */
  Awaited awaitPartner(long deadlineNanos) {
    return Awaited.READY;
  }

  /** Receives what was kept of the other side when it was gone; says whether there was anything. */
  boolean receiveKept(Message into) {
    return false;
  }

  /** Sends a message if that is possible at once; see {@link Outbox#send}. */
  public final SendResult send(
      MessageKind kind, long id, long methodId, byte[] bytes, int offset, int length) {
    return send(kind, id, methodId, Outbox.NO_PREFIX, bytes, offset, length);
  }

  /**
   * Sends a message in two parts if that is possible at once.
   *
   * @param prefix comes before the bytes
   */
  public SendResult send(
      MessageKind kind,
      long id,
      long methodId,
      byte[] prefix,
      byte[] bytes,
      int offset,
      int length) {
    try {
      return exchange.sending().send(kind, id, methodId, prefix, bytes, offset, length);
    } catch (ProtocolViolation e) {
      violated(e);
      return SendResult.OVER;
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /**
   * Sends a message, waiting for space and for a slot; a host also waits for the guest to attach.
   *
   * @throws IllegalStateException if a host would have to wait on its loop's thread
   */
  public final SendResult sendBlocking(
      MessageKind kind,
      long id,
      long methodId,
      byte[] bytes,
      int offset,
      int length,
      long deadlineNanos) {
    try {
      return switch (awaitPartner(deadlineNanos)) {
        case READY ->
            exchange
                .sending()
                .sendBlocking(kind, id, methodId, bytes, offset, length, deadlineNanos);
        case TIMEOUT -> SendResult.TIMEOUT;
        case OVER -> SendResult.OVER;
      };
    } catch (ProtocolViolation e) {
      violated(e);
      return SendResult.OVER;
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /**
   * Waits for room after {@link #send} has said {@code RING_FULL} or {@code NO_SLOT}, without a
   * thread, for code that runs on an event loop; in a coroutine by {@code get}:
   *
   * {@snippet :
   * void sendNext() {
   *   SendResult result = peer.send(MessageKind.DATA, 1, 0, bytes, 0, bytes.length);
   *   if (result == SendResult.RING_FULL || result == SendResult.NO_SLOT) {
   *     peer.awaitRoom(loop, result).thenRun(this::sendNext);
   *   }
   * }
   * }
   *
   * <p>Others may be quicker, so the next attempt may be refused again. Any thread.
   *
   * @param refused what the attempt to send has said
   * @return completes on the loop thread, never at once, with {@code READY}, or with {@code OVER}
   *     if nothing more can be sent; is cancelled if the loop is stopped
   */
  public final CompletableFuture<Awaited> awaitRoom(EventLoop loop, SendResult refused) {
    return room.await(loop, refused);
  }

  /**
   * Receives a message if there is one and no other thread is receiving.
   *
   * @throws ProtocolViolation if the other side has written what a correct one cannot
   */
  public boolean receive(Message into) {
    try {
      return exchange.receiving().receive(into) || receiveKept(into);
    } catch (ProtocolViolation e) {
      violated(e);
      throw e;
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /**
   * Receives a message, waiting for one; a host also waits for the guest to attach.
   *
   * @throws ProtocolViolation if the other side has written what a correct one cannot
   * @throws IllegalStateException if a host would have to wait on its loop's thread
   */
  public Awaited receiveBlocking(Message into, long deadlineNanos) {
    if (awaitPartner(deadlineNanos) == Awaited.TIMEOUT) {
      return Awaited.TIMEOUT;
    }
    try { // even if it is over: it may have come and sent something
      Awaited awaited = exchange.receiving().receiveBlocking(into, deadlineNanos);
      return awaited == Awaited.OVER && receiveKept(into) ? Awaited.READY : awaited;
    } catch (ProtocolViolation e) {
      violated(e);
      throw e;
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /**
   * Opens a channel; null if all are in use, if the other side has not sent a message yet, or if
   * the guest has left or is gone.
   */
  public final @Nullable Channel openChannel() {
    try {
      return exchange.link().channels().open();
    } catch (ProtocolViolation e) {
      violated(e);
      return null;
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /** Whether the other side can open a channel of that id. */
  public final boolean isPeersChannel(long id) {
    return exchange.link().channels().isPeers(id);
  }

  /**
   * Sends data on a channel, waiting for credit, space and a slot. Others can send while this waits
   * for credit. For one thread at a time on each channel.
   */
  public final SendResult send(
      Channel channel, byte[] bytes, int offset, int length, long deadlineNanos) {
    try {
      return exchange.sending().send(channel, bytes, offset, length, deadlineNanos);
    } catch (ProtocolViolation e) {
      violated(e);
      return SendResult.OVER;
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /** Ends a channel; see {@link Channel#end}. */
  public final SendResult end(Channel channel, MessageKind how, long deadlineNanos) {
    try {
      return exchange.sending().end(channel, how, deadlineNanos);
    } catch (ProtocolViolation e) {
      violated(e);
      return SendResult.OVER;
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /**
   * The channel that a received message belongs to; see {@link Channels#of}. Null also if there can
   * be no such channel, which ends the connection.
   */
  public final @Nullable Channel channelOf(Message message) {
    try {
      return exchange.link().channels().of(message);
    } catch (ProtocolViolation e) {
      violated(e);
      return null;
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /** The link, for channels and staging; whoever uses it must be the only sender or receiver. */
  public final Link link() {
    return exchange.link();
  }
}
