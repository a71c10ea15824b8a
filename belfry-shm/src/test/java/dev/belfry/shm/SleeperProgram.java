package dev.belfry.shm;

import dev.belfry.linux.Sys;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * Some threads of another process that sleep at one place of a segment until they are woken: where
 * the guest waits for data, where it waits for space or a slot, or where it waits for credit.
 */
final class SleeperProgram {
  private SleeperProgram() {}

  public static void main(String[] arguments) throws Exception {
    Segment segment = Segment.attach(Sys.forAnyThread(), Path.of(arguments[0]));
    int threads = Integer.parseInt(arguments[2]);
    for (int i = 0; i < threads; i++) {
      Thread.ofPlatform().start(() -> System.out.println(sleep(segment, arguments[1])));
    }
  }

  private static WaitResult sleep(Segment segment, String place) {
    var toGuest = new Ring(segment, 1, Direction.TO_GUEST);
    var toHost = new Ring(segment, 1, Direction.TO_HOST);
    MemorySegment credit = segment.memory().word(segment.layout().channelGranted(1, 1));
    var futex = new FutexWait(segment.sys());
    long deadline = Sides.inMillis(60_000);
    return switch (place) {
      case "data" -> futex.await(toGuest.dataWord(), toGuest.armData(), deadline);
      case "space" -> futex.await(toHost.spaceWord(), toHost.armSpace(), deadline);
      default -> futex.await(credit, (int) segment.config().initialCredit(), deadline);
    };
  }
}
