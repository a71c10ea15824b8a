package dev.belfry.shm;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * Attaches with its ticket; prints its system calls, each with the state of its entry at that time.
 */
final class LoggedGuest {
  private static final int SET_FLAGS = 2; // F_SETFD
  private static final int SET_LOCK = 37; // F_OFD_SETLK

  private LoggedGuest() {}

  public static void main(String[] arguments) throws Exception {
    SpawnArguments ticket = SpawnArguments.parse(arguments);
    Segment seen = Segment.inspect(Sys.forAnyThread(), Path.of("/proc/self/fd/4"));
    SysTap tap = SysTap.over(Sys.forAnyThread());
    for (String call : new String[] {"prctl", "fcntl", "mmap", "setRobustList", "send"}) {
      tap.script(
          call,
          (_, given) -> {
            PeerState state = seen.peers().state(ticket.peerId());
            System.out.println(call + detail(call, given) + " " + state);
            return OptionalLong.empty();
          });
    }
    ShmGuest.attach(tap.sys(), arguments, WaitStrategy.SLEEP);
    System.out.println("running");
    Thread.sleep(Long.MAX_VALUE); // until killed
  }

  private static String detail(String call, Object[] given) {
    if (!call.equals("fcntl")) {
      return "";
    }
    return given[1].equals(SET_FLAGS)
        ? " %s %s".formatted(given[0], given[2])
        : given[1].equals(SET_LOCK) ? " lock" : " ...";
  }
}
