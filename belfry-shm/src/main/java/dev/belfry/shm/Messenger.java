package dev.belfry.shm;

import dev.belfry.loop.EventLoop;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One end of the connection between a host and a guest: the host has a {@link Peer} for each guest,
 * and the guest is a {@link ShmGuest}. Safe for use by any number of threads.
 *
 * <p>A deadline is a time of {@link System#nanoTime}, or {@link FutexWait#FOREVER}.
 *
 * <p>A protocol violation by the other side ends the connection, whichever call detects it. Methods
 * that receive throw the {@link ProtocolViolation}, because the message they were to return is
 * corrupt; all other methods report a normal end.
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

  /** The exception for a fault that the JVM reported too late for the link to catch. */
  final SegmentLost lost(InternalError late) {
    return exchange.link().segment().lost(late);
  }

  /** Called when the other side has violated the protocol: nothing more is accepted from it. */
  abstract void violated(ProtocolViolation violation);

  /**
   * Waits until there is another side to talk to: a host waits for a guest that it has spawned but
   * that has not attached yet.
   *
   * @return {@code OVER} if it will never attach
   */
  Awaited awaitPartner(long deadlineNanos) {
    return Awaited.READY;
  }

  /**
   * Receives a message that was kept when the other side was gone; returns false if there is none.
   */
  boolean receiveKept(Message into) {
    return false;
  }

  /** Sends a message, without waiting; see {@link Outbox#send}. */
  public final SendResult send(
      MessageKind kind, long id, long methodId, byte[] bytes, int offset, int length) {
    return send(kind, id, methodId, Outbox.NO_PREFIX, bytes, offset, length);
  }

  /**
   * Sends a message in two parts, without waiting.
   *
   * @param prefix bytes that precede the others
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
   * Sends a message; waits for space in the ring and for a slot, and on a host for the guest to
   * attach.
   *
   * @throws IllegalStateException if a host would have to wait on its loop thread
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
   * Waits for room without blocking a thread, after {@link #send} has returned {@code RING_FULL} or
   * {@code NO_SLOT}. For code on an event loop; a coroutine calls {@code get} on the result.
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
   * <p>Other senders may take the room first, so the next attempt may be refused again. Any thread.
   *
   * @param refused what {@code send} has returned
   * @return completes on the loop thread, never before this method returns, with {@code READY}, or
   *     with {@code OVER} if nothing more can be sent; cancelled if the loop is stopped
   */
  public final CompletableFuture<Awaited> awaitRoom(EventLoop loop, SendResult refused) {
    return room.await(loop, refused);
  }

  /**
   * Receives a message if there is one and no other thread is receiving.
   *
   * @throws ProtocolViolation if the other side has violated the protocol
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
   * @throws ProtocolViolation if the other side has violated the protocol
   * @throws IllegalStateException if a host would have to wait on its loop thread
   */
  public Awaited receiveBlocking(Message into, long deadlineNanos) {
    if (awaitPartner(deadlineNanos) == Awaited.TIMEOUT) {
      return Awaited.TIMEOUT;
    }
    try { // even after OVER: the guest may have attached and sent something before its end
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
   * Opens a channel. Returns null if all are in use, if the guest has left or is gone, or, on a
   * host, if the guest has not sent a message yet.
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

  /** Whether {@code id} is that of a channel which the other side can open. */
  public final boolean isPeersChannel(long id) {
    return exchange.link().channels().isPeers(id);
  }

  /**
   * Sends data on a channel, waiting for credit, space and a slot. Other threads can send while
   * this one waits for credit. One thread at a time for each channel.
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
   * The channel that a received message belongs to; see {@link Channels#of}. Also null if no such
   * channel can exist, which ends the connection.
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

  /** The link, for channels and staging. A caller must be the only sender or the only receiver. */
  public final Link link() {
    return exchange.link();
  }
}
