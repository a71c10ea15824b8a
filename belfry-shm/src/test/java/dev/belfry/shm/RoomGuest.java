package dev.belfry.shm;

import dev.belfry.linux.Sys;
import dev.belfry.loop.Backend;
import dev.belfry.loop.Coroutine;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A guest with its own loop: a coroutine sends, and the main thread receives. */
final class RoomGuest {
  private RoomGuest() {}

  public static void main(String[] arguments) throws Exception {
    int count = Integer.parseInt(arguments[1]);
    try (RunningLoop loop = RunningLoop.start(Backend.valueOf(arguments[0]));
        ShmGuest guest = ShmGuest.attach(Sys.forAnyThread(), arguments, WaitStrategy.ADAPTIVE)) {
      var sender = new RoomSender(guest, loop.loop(), count);
      Coroutine<Integer> sending = loop.loop().spawn("sends", () -> sender.sendAll());
      int received = RoomSender.receiveAll(guest, count, new Random(1));
      int sent = sending.result().get(60, TimeUnit.SECONDS);
      if (sent != count || received != count || sender.refusals() == 0) {
        throw new AssertionError(
            "sent %d, received %d, refused %d times".formatted(sent, received, sender.refusals()));
      }
    }
  }
}
