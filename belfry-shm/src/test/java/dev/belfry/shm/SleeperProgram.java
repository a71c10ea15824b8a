package dev.belfry.shm;

import dev.belfry.linux.Sys;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/**
 * Threads of another process, asleep wherever a guest can sleep: for data, for space or a slot, for
 * credit. Prints which of them were woken.
 */
final class SleeperProgram {
  private SleeperProgram() {}

  public static void main(String[] arguments) throws Exception {
    Segment segment = Segment.attach(Sys.forAnyThread(), Path.of(arguments[0]));
    for (String place : List.of("data", "space", "credit")) {
      for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
        Thread.ofPlatform().start(() -> System.out.println(place + " " + sleep(segment, place)));
      }
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
