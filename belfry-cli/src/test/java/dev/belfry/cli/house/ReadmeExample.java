package dev.belfry.cli.house;

import dev.belfry.linux.Epoll;
import dev.belfry.linux.EpollEvents;
import dev.belfry.linux.EventFd;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.foreign.Arena;

/** The example of the README; a test compares the two. */
final class ReadmeExample {
  private ReadmeExample() {}

  static void run() throws IOException {
    // @start region="example"
    Sys sys = Sys.forAnyThread();
    try (EventFd bell = EventFd.create(sys);
        Epoll epoll = Epoll.create(sys);
        Arena arena = Arena.ofConfined()) {
      epoll.add(bell.number(), Epoll.IN, 7); // 7 comes back with the event
      Thread.startVirtualThread(bell::signal);

      EpollEvents events = new EpollEvents(arena, 16);
      int ready = epoll.await(events, Epoll.FOREVER); // how many, or -errno
      for (int i = 0; i < ready; i++) {
        System.out.println("token " + events.token(i) + " rang " + bell.reset() + " time(s)");
      }
    }
    // @end
  }
}
