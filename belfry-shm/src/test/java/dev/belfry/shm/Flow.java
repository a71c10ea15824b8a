package dev.belfry.shm;

import java.util.Arrays;
import java.util.Random;

/** A stream of messages that both ends can compute: length and content follow from the number. */
final class Flow {
  private static final int[] EDGES = {0, 1, 31, 32, 33, 96, 97};
  private static final int OFFSETS = 1009;
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private final int count;
  private final int largest;
  private final byte[] source;

  Flow(int count, int largest) {
    this.count = count;
    this.largest = largest;
    this.source = new byte[largest + OFFSETS];
    new Random(7).nextBytes(source);
  }

  private int length(int number) {
    int mixed = number * 0x9e3779b9;
    mixed ^= mixed >>> 15;
    if ((mixed & 7) == 0) {
      return Math.min(largest, EDGES[(mixed >>> 8) % EDGES.length]);
    }
    return (int) (Integer.toUnsignedLong(mixed * 0x85ebca6b) % (largest + 1));
  }

  private static int offset(int number) {
    return (int) (Integer.toUnsignedLong(number * 0xc2b2ae35) % OFFSETS);
  }

  /** Sends the whole stream, waiting as the link does. */
  void send(Outbox outbox) {
    for (int i = 0; i < count; i++) {
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      SendResult result =
          outbox.send(MessageKind.DATA, i, ~i, source, offset(i), length(i), deadline);
      if (result != SendResult.SENT) {
        throw new AssertionError("message " + i + ": " + result);
      }
    }
    if (outbox.awaitAllRead(System.nanoTime() + PATIENCE_NANOS) != Awaited.READY) {
      throw new AssertionError("the last messages were not read");
    }
  }

  /** Receives the whole stream and checks order and content. */
  void receive(Inbox inbox) {
    var message = new Message();
    for (int i = 0; i < count; i++) {
      Awaited awaited = inbox.receive(message, System.nanoTime() + PATIENCE_NANOS);
      if (awaited != Awaited.READY) {
        throw new AssertionError("message " + i + ": " + awaited);
      }
      check(message, i);
    }
  }

  private void check(Message message, int number) {
    int length = length(number);
    int offset = offset(number);
    boolean right =
        message.id() == number
            && message.methodId() == ~number
            && message.length() == length
            && Arrays.equals(source, offset, offset + length, message.bytes(), 0, message.length());
    if (!right) {
      throw new AssertionError("instead of message " + number + " came " + message);
    }
  }

  /** Both directions: concurrently on two threads, or in sequence where waiting burns a core. */
  void exchange(Link link, WaitStrategy strategy) throws InterruptedException {
    if (strategy == WaitStrategy.SPIN || strategy == WaitStrategy.YIELD) {
      if (link.isHost()) {
        receive(link.inbox());
        send(link.outbox());
      } else {
        send(link.outbox());
        receive(link.inbox());
      }
      return;
    }
    var failure = new Throwable[1];
    Thread sending =
        Thread.ofPlatform()
            .name("sending")
            .uncaughtExceptionHandler((_, thrown) -> failure[0] = thrown)
            .start(() -> send(link.outbox()));
    receive(link.inbox());
    sending.join();
    if (failure[0] != null) {
      throw new AssertionError(failure[0]);
    }
  }
}
