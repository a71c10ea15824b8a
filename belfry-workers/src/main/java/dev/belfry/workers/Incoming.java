package dev.belfry.workers;

import dev.belfry.shm.Channel;
import dev.belfry.shm.Message;
import dev.belfry.shm.MessageKind;
import dev.belfry.shm.Messenger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Payloads that arrive in chunks from one peer, by channel. A payload's buffer grows with the bytes
 * received, whatever length the peer has announced. Thread-safe.
 */
final class Incoming {
  /** The size of a payload's first buffer, unless the payload is shorter. */
  private static final int FIRST_BYTES = 1 << 20;

  private final Messenger messenger;
  private final Map<Long, Transfer> transfers = new HashMap<>();

  Incoming(Messenger messenger) {
    this.messenger = messenger;
  }

  /** Receives a payload. */
  @FunctionalInterface
  interface Receiver {
    /** The payload is complete; null if it was dropped. */
    void complete(byte @Nullable [] payload);
  }

  /** A payload in transit. */
  private static final class Transfer {
    final long message;
    final int length;
    final Receiver receiver;

    /** The bytes received; null if the payload is no longer wanted. */
    byte @Nullable [] bytes;

    int count;

    Transfer(long message, int length, Receiver receiver) {
      this.message = message;
      this.length = length;
      this.receiver = receiver;
      this.bytes = new byte[Math.min(length, FIRST_BYTES)];
    }

    void add(Message chunk) {
      byte[] before = bytes;
      if (before != null) {
        int end = count + chunk.length();
        byte[] room =
            end <= before.length
                ? before
                : Arrays.copyOf(before, (int) Math.min(length, Math.max(end, 4L * before.length)));
        chunk.copyTo(0, room, count, chunk.length());
        bytes = room;
      }
      count += chunk.length();
    }
  }

  /**
   * The payload of a message was announced.
   *
   * @param message the id of the message, for which no other payload may be in transit
   */
  synchronized void expect(long message, Protocol.Header header, Receiver receiver) {
    if (!messenger.isPeersChannel(header.channel())) {
      throw new MalformedMessage("a payload on channel " + header.channel());
    }
    if (transfers.values().stream().anyMatch(it -> it.message == message)) {
      throw new MalformedMessage("two payloads for message " + message);
    }
    var transfer = new Transfer(message, (int) header.length(), receiver);
    if (transfers.putIfAbsent(header.channel(), transfer) != null) {
      throw new MalformedMessage("two payloads on channel " + header.channel());
    }
  }

  /** Drops the payload of a message, if it is in transit. */
  synchronized void drop(long message) {
    for (Transfer transfer : transfers.values()) {
      if (transfer.message == message) {
        transfer.bytes = null;
      }
    }
  }

  /** A message of a channel has arrived. If it completes a payload, this thread hands it over. */
  void take(Message message) {
    Transfer complete = message.kind() == MessageKind.DATA ? data(message) : ended(message);
    if (complete != null) {
      complete.receiver.complete(complete.bytes);
    }
  }

  private synchronized @Nullable Transfer data(Message message) {
    Channel channel = messenger.channelOf(message);
    Transfer transfer = transfers.get(message.id());
    if (channel == null || transfer == null) {
      return null; // of a payload that was abandoned
    }
    int length = message.length();
    if (length > transfer.length - transfer.count) {
      throw new MalformedMessage(
          "more than the %d bytes announced on channel %d"
              .formatted(transfer.length, message.id()));
    }
    transfer.add(message);
    channel.grant(length);
    return null;
  }

  private synchronized @Nullable Transfer ended(Message message) {
    var _ = messenger.channelOf(message); // ends the channel
    Transfer transfer = transfers.remove(message.id());
    if (transfer == null || message.kind() == MessageKind.RESET) {
      return null;
    }
    if (transfer.count < transfer.length) {
      throw new MalformedMessage(
          "%d of %d bytes on channel %d".formatted(transfer.count, transfer.length, message.id()));
    }
    return transfer;
  }
}
