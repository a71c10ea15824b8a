package dev.belfry.workers;

import dev.belfry.shm.Channel;
import dev.belfry.shm.Message;
import dev.belfry.shm.MessageKind;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The payloads that come in chunks from one peer, by the channels they come on. Any thread. */
final class Incoming {
  private final Function<Message, @Nullable Channel> channels;
  private final Map<Long, Transfer> transfers = new HashMap<>();

  /** With what says which channel a message belongs to. */
  Incoming(Function<Message, @Nullable Channel> channels) {
    this.channels = channels;
  }

  /** A payload that is not complete yet. */
  private static final class Transfer {
    final byte[] bytes;
    final Consumer<byte[]> whenComplete;
    int count;

    Transfer(int length, Consumer<byte[]> whenComplete) {
      this.bytes = new byte[length];
      this.whenComplete = whenComplete;
    }
  }

  /** A payload was announced. */
  synchronized void expect(Protocol.Header header, Consumer<byte[]> whenComplete) {
    var transfer = new Transfer((int) header.length(), whenComplete);
    if (transfers.putIfAbsent(header.channel(), transfer) != null) {
      throw new MalformedMessage("two payloads on channel " + header.channel());
    }
  }

  /** A message of a channel has come. What is complete is handed over by this thread. */
  void take(Message message) {
    Transfer complete = message.kind() == MessageKind.DATA ? data(message) : ended(message);
    if (complete != null) {
      complete.whenComplete.accept(complete.bytes);
    }
  }

  private synchronized @Nullable Transfer data(Message message) {
    Channel channel = channels.apply(message);
    Transfer transfer = transfers.get(message.id());
    if (channel == null || transfer == null) {
      return null; // of a payload that was given up
    }
    int length = message.length();
    if (length > transfer.bytes.length - transfer.count) {
      throw new MalformedMessage(
          "more than the %d bytes announced on channel %d"
              .formatted(transfer.bytes.length, message.id()));
    }
    System.arraycopy(message.bytes(), 0, transfer.bytes, transfer.count, length);
    transfer.count += length;
    channel.grant(length);
    return null;
  }

  private synchronized @Nullable Transfer ended(Message message) {
    var _ = channels.apply(message); // which ends it
    Transfer transfer = transfers.remove(message.id());
    if (transfer == null || message.kind() == MessageKind.RESET) {
      return null;
    }
    if (transfer.count < transfer.bytes.length) {
      throw new MalformedMessage(
          "%d of %d bytes on channel %d"
              .formatted(transfer.count, transfer.bytes.length, message.id()));
    }
    return transfer;
  }
}
