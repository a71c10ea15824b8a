package dev.belfry.workers;

import dev.belfry.shm.Channel;
import dev.belfry.shm.MessageKind;
import dev.belfry.shm.Messenger;
import dev.belfry.shm.SendResult;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Sends payloads to one peer, at once or in chunks. For any number of threads. */
final class Outgoing {
  /** How long to sleep while all channels are in use. */
  private static final long PAUSE_NANOS = 500_000;

  private final Messenger messenger;
  private final int mostAtOnce;
  private final int chunk;

  /**
   * By a messenger.
   *
   * @param mostAtOnce the longest message
   * @param credit how many bytes may be under way on a channel
   */
  Outgoing(Messenger messenger, int mostAtOnce, long credit) {
    this.messenger = messenger;
    this.mostAtOnce = mostAtOnce;
    // Half of the credit, so that the next chunk is written while the last is read.
    this.chunk = (int) Math.max(1, Math.min(mostAtOnce, credit / 2));
  }

  /** Whether something of so many bytes, header included, goes into one message. */
  boolean fits(int length) {
    return length <= mostAtOnce;
  }

  /** Sends one message. */
  SendResult send(MessageKind kind, long id, long method, byte[] bytes, long deadlineNanos) {
    return messenger.sendBlocking(kind, id, method, bytes, 0, bytes.length, deadlineNanos);
  }

  /** Opens a channel, waiting until there is one; null after the deadline, or if it is over. */
  @Nullable Channel openChannel(BooleanSupplier isOver, long deadlineNanos) {
    while (true) {
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

  /** Sends a payload on a channel that was announced, and ends the channel. */
  SendResult sendChunks(
      Channel channel, byte[] payload, BooleanSupplier isOver, long deadlineNanos) {
    int sent = 0;
    while (sent < payload.length) {
      int length = Math.min(chunk, payload.length - sent);
      SendResult result =
          isOver.getAsBoolean()
              ? SendResult.OVER
              : messenger.send(channel, payload, sent, length, deadlineNanos);
      if (result != SendResult.SENT) {
        messenger.end(channel, MessageKind.RESET, System.nanoTime() + PAUSE_NANOS);
        return result;
      }
      sent += length;
    }
    return messenger.end(channel, MessageKind.CLOSE, deadlineNanos);
  }
}
