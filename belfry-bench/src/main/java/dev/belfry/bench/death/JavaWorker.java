package dev.belfry.bench.death;

import dev.belfry.bench.harness.ContenderMain;
import dev.belfry.linux.Sys;
import dev.belfry.shm.ShmGuest;
import dev.belfry.shm.WaitStrategy;
import java.lang.foreign.Arena;

/** A worker to be killed: touches this many megabytes, attaches if it has a ticket, and sleeps. */
final class JavaWorker {
  private JavaWorker() {}

  public static void main(String[] arguments) throws Exception {
    long bytes = Long.parseLong(arguments[0]) << 20;
    Arena.global().allocate(bytes).fill((byte) 1);
    if (arguments.length > 1) {
      ShmGuest _ = ShmGuest.attach(Sys.forAnyThread(), arguments, WaitStrategy.SLEEP);
    }
    ContenderMain.ready(ProcessHandle.current().pid());
    Thread.sleep(Long.MAX_VALUE);
  }
}
