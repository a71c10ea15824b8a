package dev.belfry.shm;

import dev.belfry.linux.Sys;
import java.nio.file.Path;
import java.util.ArrayList;

/** Walks into a segment many times from one process, and prints how often it succeeded. */
final class Crowd {
  private Crowd() {}

  public static void main(String[] arguments) throws Exception {
    int wanted = Integer.parseInt(arguments[1]);
    var guests = new ArrayList<ShmGuest>();
    for (int i = 0; i < wanted; i++) {
      guests.add(ShmGuest.walkIn(Sys.forAnyThread(), Path.of(arguments[0]), WaitStrategy.SLEEP));
    }
    System.out.println("inside " + guests.size());
    Thread.sleep(Long.MAX_VALUE);
  }
}
