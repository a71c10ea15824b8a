package dev.belfry.shm;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;

/**
 * A guest that one thread detaches, waiting for a host that does not read, while another closes it
 * and a third receives.
 */
final class TwiceClosedGuest {
  private static final String RECEIVER = "receiver";

  private TwiceClosedGuest() {}

  public static void main(String[] arguments) throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    var atTheBell = new CountDownLatch(1);
    tap.script(
        "ppoll",
        (_, _) -> {
          if (Thread.currentThread().getName().equals(RECEIVER)) {
            atTheBell.countDown();
          }
          return OptionalLong.empty();
        });
    ShmGuest guest = ShmGuest.attach(tap.sys(), arguments, WaitStrategy.ADAPTIVE);
    Thread receiver =
        Thread.ofPlatform()
            .name(RECEIVER)
            .start(() -> guest.receiveBlocking(new Message(), FutexWait.FOREVER));
    if (!guest.segment().layout().isPadded()) {
      atTheBell.await();
    }
    guest.send(MessageKind.REQUEST, 1, 0, new byte[1], 0, 1);
    Thread detacher = Thread.ofPlatform().start(() -> detach(guest));
    while (guest.end().isEmpty()) {
      Thread.onSpinWait();
    }
    guest.close();
    for (Thread thread : List.of(detacher, receiver)) {
      thread.join();
    }
  }

  private static void detach(ShmGuest guest) {
    try {
      guest.detach(Duration.ofSeconds(2));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
