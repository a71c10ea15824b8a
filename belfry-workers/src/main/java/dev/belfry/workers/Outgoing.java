package dev.belfry.workers;

import dev.belfry.shm.Channel;
import dev.belfry.shm.FutexWait;
import dev.belfry.shm.MessageKind;
import dev.belfry.shm.Messenger;
import dev.belfry.shm.SendResult;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Sends payloads to one peer, in one message or in chunks. Thread-safe. */
final class Outgoing {
  /** How long to sleep while all channels are in use. */
  private static final long PAUSE_NANOS = 500_000;

  /** How long to wait for the peer before checking whether the message is still wanted. */
  private static final long SLICE_NANOS = 50_000_000;

  private final Messenger messenger;
  private final int mostAtOnce;
  private final int chunk;

  /** Channels of abandoned payloads whose end could not be sent yet for want of room. */
  private final Queue<Channel> left = new ConcurrentLinkedQueue<>();

  /**
   * Sends through a messenger.
   *
   * @param mostAtOnce the size of the longest message
   * @param credit how many bytes may be in transit on a channel
   */
  Outgoing(Messenger messenger, int mostAtOnce, long credit) {
    this.messenger = messenger;
    this.mostAtOnce = mostAtOnce;
    // Half of the credit, so that the next chunk is written while the last is read.
    this.chunk = (int) Math.max(1, Math.min(mostAtOnce, credit / 2));
  }

  /** Whether this many bytes, header included, fit into one message. */
  boolean fits(int length) {
    return length <= mostAtOnce;
  }

  /**
   * Sends one message, waiting for room until the deadline.
   *
   * @param isOver whether the message is no longer wanted
   */
  SendResult send(
      MessageKind kind,
      long id,
      long method,
      byte[] bytes,
      BooleanSupplier isOver,
      long deadlineNanos) {
    // Usually this succeeds, and then reading the clock would cost as much again.
    SendResult atOnce = messenger.send(kind, id, method, bytes, 0, bytes.length);
    if (atOnce == SendResult.SENT) {
      return atOnce;
    }
    return inSlices(
        until -> messenger.sendBlocking(kind, id, method, bytes, 0, bytes.length, until),
        isOver,
        deadlineNanos);
  }

  /** Tries until the deadline, checking now and then whether the message is still wanted. */
  private static SendResult inSlices(
      LongFunction<SendResult> attempt, BooleanSupplier isOver, long deadlineNanos) {
    while (true) {
      long slice = System.nanoTime() + SLICE_NANOS;
      boolean last = deadlineNanos != FutexWait.FOREVER && deadlineNanos - slice <= 0;
      SendResult result = attempt.apply(last ? deadlineNanos : slice);
      if (result != SendResult.TIMEOUT || last) {
        return result;
      }
      if (isOver.getAsBoolean()) {
        return SendResult.OVER;
      }
    }
  }

  /**
   * Announces a payload on a channel of its own, and sends it there chunk by chunk.
   *
   * @param announcement makes the bytes of the announcing message from the id of the channel
   * @param isOver whether the payload is no longer wanted
   */
  SendResult sendInChunks(
      MessageKind kind,
      long id,
      long method,
      IntFunction<byte[]> announcement,
      byte[] payload,
      BooleanSupplier isOver,
      long deadlineNanos) {
    Channel channel = openChannel(isOver, deadlineNanos);
    if (channel == null) {
      return isOver.getAsBoolean() ? SendResult.OVER : SendResult.TIMEOUT;
    }
    SendResult result =
        send(kind, id, method, announcement.apply(channel.id()), isOver, deadlineNanos);
    for (int at = 0; result == SendResult.SENT && at < payload.length; at += chunk) {
      int from = at;
      int length = Math.min(chunk, payload.length - from);
      result =
          isOver.getAsBoolean()
              ? SendResult.OVER
              : inSlices(
                  until -> messenger.send(channel, payload, from, length, until),
                  isOver,
                  deadlineNanos);
    }
    if (result == SendResult.SENT) {
      if (!isOver.getAsBoolean()) {
        return end(channel, MessageKind.CLOSE, deadlineNanos);
      }
      result = SendResult.OVER; // a complete payload would be acted on
    }
    end(channel, MessageKind.RESET, System.nanoTime() + PAUSE_NANOS);
    return result;
  }

  /**
   * Opens a channel, waiting for a free one; null after the deadline, or if it is no longer wanted.
   */
  private @Nullable Channel openChannel(BooleanSupplier isOver, long deadlineNanos) {
    while (true) {
      endLeft();
      Channel channel = messenger.openChannel();
      if (channel != null) {
        return channel;
      }
      if (isOver.getAsBoolean() || System.nanoTime() - deadlineNanos >= 0) {
        return null;
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private SendResult end(Channel channel, MessageKind how, long deadlineNanos) {
    SendResult result = messenger.end(channel, how, deadlineNanos);
    if (result == SendResult.TIMEOUT) {
      left.add(channel);
    }
    return result;
  }

  /** Ends channels that could not be ended before, as far as there is room by now. */
  private void endLeft() {
    for (int count = left.size(); count > 0; count--) {
      Channel channel = left.poll();
      if (channel != null) {
        end(channel, MessageKind.RESET, System.nanoTime());
      }
    }
  }
}
