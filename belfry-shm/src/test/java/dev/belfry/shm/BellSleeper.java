package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.lang.foreign.MemorySegment;
import java.util.OptionalLong;

/** A guest that prints each message it receives and, before each sleep at its bell, how long. */
final class BellSleeper {
  private BellSleeper() {}

  public static void main(String[] arguments) throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    System.out.println("started");
    try (ShmGuest guest = ShmGuest.attach(tap.sys(), arguments, WaitStrategy.ADAPTIVE)) {
      printSleeps(tap, Thread.currentThread());
      var message = new Message();
      while (guest.receiveBlocking(message, FutexWait.FOREVER) == Awaited.READY) {
        System.out.println("received " + message.id());
      }
    }
  }

  private static void printSleeps(SysTap tap, Thread receiver) {
    tap.script(
        "ppoll",
        (_, given) -> {
          if (Thread.currentThread() == receiver) { // not the lifeline
            var time = (MemorySegment) given[2];
            long nanos = 1_000_000_000 * time.get(JAVA_LONG, 0) + time.get(JAVA_LONG, 8);
            System.out.println("sleeps " + nanos);
          }
          return OptionalLong.empty();
        });
  }
}
