package dev.belfry.shm;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.util.OptionalLong;

/** A guest that sends everything back, and that, like some of another make, announces nothing. */
final class MuteGuest {
  private MuteGuest() {}

  /** Neither wakes a sleeper nor rings a bell. */
  static void mute(SysTap tap) {
    tap.script(
        "futex",
        (_, arguments) -> {
          boolean wakes = arguments.length == 3;
          return wakes ? OptionalLong.of(0) : OptionalLong.empty();
        });
    tap.script("send", (_, _) -> OptionalLong.of(1));
  }

  public static void main(String[] arguments) throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    mute(tap);
    var message = new Message();
    try (ShmGuest guest = ShmGuest.attach(tap.sys(), arguments, WaitStrategy.ADAPTIVE)) {
      while (guest.receiveBlocking(message, FutexWait.FOREVER) == Awaited.READY) {
        guest.sendBlocking(
            message.kind(),
            message.id(),
            message.methodId(),
            message.bytes(),
            0,
            message.length(),
            FutexWait.FOREVER);
      }
    }
  }
}
