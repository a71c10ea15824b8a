package dev.belfry.shm;

import dev.belfry.loop.EventLoop;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * Sends a number of messages from an event loop, waiting there for room, as users can. It never
 * polls, so a single lost wake-up would stop it for good.
 */
final class RoomSender {
  private static final int LARGE = 600;

  private final Messenger messenger;
  private final Room room;
  private final EventLoop loop;
  private final int count;
  private int next;
  private int refusals;

  RoomSender(Messenger messenger, EventLoop loop, int count) {
    this.messenger = messenger;
    this.room = new Room(messenger.link(), Sleeper.NEVER_NANOS);
    this.loop = loop;
    this.count = count;
  }

  /** How often there was no room; valid when all messages are sent. */
  int refusals() {
    return refusals;
  }

  private SendResult sendNext() {
    byte[] bytes = Sides.payload(length(next), next);
    SendResult result = messenger.send(MessageKind.REQUEST, next, 0, bytes, 0, bytes.length);
    if (result == SendResult.SENT) {
      next++;
    } else {
      refusals++;
    }
    return result;
  }

  /** Three out of four fit only a slot. */
  private static int length(int id) {
    return id % 4 == 0 ? 9 : LARGE;
  }

  /** Sends with callbacks; call it on the loop thread. */
  void sendAll(CompletableFuture<Integer> done) {
    while (next < count) {
      SendResult result = sendNext();
      if (result != SendResult.SENT) {
        CompletableFuture<Void> again = room.await(loop, result).thenAccept(_ -> sendAll(done));
        again.exceptionally(
            failure -> {
              done.completeExceptionally(failure);
              return null;
            });
        return;
      }
    }
    done.complete(next);
  }

  /** Sends in a coroutine. */
  int sendAll() throws Exception {
    while (next < count) {
      SendResult result = sendNext();
      if (result != SendResult.SENT && room.await(loop, result).get() != Awaited.READY) {
        break;
      }
    }
    return next;
  }

  /** The other side: takes its time, and checks what arrives. */
  static int receiveAll(Messenger from, int count, RandomGenerator random) throws Exception {
    var message = new Message();
    for (int i = 0; i < count; i++) {
      if (random.nextInt(8) == 0) {
        Thread.sleep(0, random.nextInt(1_000_000));
      }
      if (from.receiveBlocking(message, Sides.inMillis(60_000)) != Awaited.READY
          || message.id() != i
          || message.length() != length(i)) {
        throw new AssertionError("not message " + i + " but " + message);
      }
    }
    return count;
  }
}
