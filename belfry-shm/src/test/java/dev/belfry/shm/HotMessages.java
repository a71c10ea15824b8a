package dev.belfry.shm;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;

/** Exchanges messages in a JVM of its own, and prints how many bytes each has allocated. */
final class HotMessages {
  private static final int MESSAGES = 30_000;

  /** A method that is compiled in the middle of a round has allocated before that. */
  private static final int MAX_ROUNDS = 20;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private HotMessages() {}

  public static void main(String[] arguments) throws IOException {
    var config = SegmentConfig.DEFAULT.withMaxGuests(1);
    try (Sides sides = Sides.of(Placement.valueOf(arguments[0]), config)) {
      var message = new Message();
      byte[] small = new byte[32];
      byte[] large = new byte[1000];
      Channel channel = sides.toHost.channels().open();
      if (channel == null) {
        throw new AssertionError("no channel");
      }
      report("inline", () -> exchange(sides, message, small));
      report("slot", () -> exchange(sides, message, large));
      report(
          "credit",
          () -> {
            channel.send(large, 0, large.length);
            sides.toGuest.inbox().receive(message);
            channel.grant(message.length());
          });
      report("wake", () -> sides.toHost.outbox().wakeConsumers());
      report("wait", () -> sides.toHost.inbox().awaitData(System.nanoTime() + 1000));
    }
  }

  private static void exchange(Sides sides, Message message, byte[] bytes) {
    sides.toHost.outbox().send(MessageKind.DATA, 1, 0, bytes, 0, bytes.length);
    if (!sides.toGuest.inbox().receive(message)) {
      throw new AssertionError("nothing came");
    }
  }

  private static void report(String name, Runnable hot) {
    double least = Double.MAX_VALUE;
    for (int round = 0; round < MAX_ROUNDS && least > 0.01; round++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < MESSAGES; i++) {
        hot.run();
      }
      long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
      least = Math.min(least, (double) bytes / MESSAGES);
    }
    System.out.println(name + " " + least);
  }
}
