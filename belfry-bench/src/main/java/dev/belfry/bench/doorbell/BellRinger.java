package dev.belfry.bench.doorbell;

import dev.belfry.bench.harness.ContenderMain;
import dev.belfry.bench.harness.JavaCommand;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.loop.EventLoop;
import dev.belfry.shm.AsyncDoorbell;
import dev.belfry.shm.Doorbell;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** Rings a doorbell for another JVM, which reports when it woke; see {@code bell_pair.c}. */
final class BellRinger {
  private static final int BELL = 3;

  private BellRinger() {}

  public static void main(String[] arguments) throws Exception {
    Sys sys = Sys.forAnyThread();
    Path file = Files.createTempFile("belfry-ear", "");
    Doorbell.Pair bells = Doorbell.pair(sys);
    try {
      Ear.create(file);
      Ear ear = Ear.open(file);
      try (PidFd listener =
          Spawn.command(
                  JavaCommand.of(JavaCommand.BELFRY, Listener.class, arguments[0], file.toString()))
              .pass(bells.guest().descriptor())
              .start(sys)) {
        bells.guest().close();
        bells.host().await(); // until it listens
        ContenderMain.serve(question -> ring(question, bells.host(), ear));
        listener.sendSignal(Signo.KILL);
        listener.awaitExit();
      }
    } finally {
      bells.host().close();
      Files.delete(file);
    }
  }

  private static String ring(String question, Doorbell bell, Ear ear) throws Exception {
    String[] words = question.split(" ", -1);
    long[] took = new long[Integer.parseInt(words[0])];
    long pause = Long.parseLong(words[1]);
    for (int i = 0; i < took.length; i++) {
      LockSupport.parkNanos(pause);
      ear.clear();
      long began = System.nanoTime();
      bell.ring();
      took[i] = ear.awaitHeard() - began;
    }
    return Arrays.stream(took).mapToObj(Long::toString).collect(Collectors.joining(" "));
  }

  /** The process that is woken, on a blocking thread or a loop. */
  static final class Listener {
    private Listener() {}

    public static void main(String[] arguments) throws Exception {
      Ear ear = Ear.open(Path.of(arguments[1]));
      Doorbell bell = Doorbell.adopt(Sys.forAnyThread(), BELL);
      if (arguments[0].equals(DoorbellCommand.LOOP)) {
        try (EventLoop loop = EventLoop.open();
            AsyncDoorbell _ = AsyncDoorbell.on(loop, bell, _ -> ear.heard())) {
          bell.ring();
          loop.run();
        }
        return;
      }
      bell.ring();
      while (bell.await() == Doorbell.Event.SIGNAL) {
        ear.heard();
      }
    }
  }
}
