package dev.belfry.examples;

import static dev.belfry.shm.FutexWait.FOREVER;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.linux.Sys;
import dev.belfry.loop.EventLoopGroup;
import dev.belfry.loop.LoopOptions;
import dev.belfry.shm.Awaited;
import dev.belfry.shm.HostOptions;
import dev.belfry.shm.Message;
import dev.belfry.shm.MessageKind;
import dev.belfry.shm.Peer;
import dev.belfry.shm.PeerOptions;
import dev.belfry.shm.ShmGuest;
import dev.belfry.shm.ShmHost;
import dev.belfry.shm.WaitStrategy;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Counts words in another process, through shared memory. */
final class WordCount {
  private WordCount() {}

  // @start region="guest"
  /** What the guest does: a process of its own, with the host's ticket among its arguments. */
  static final class Counter {
    public static void main(String[] args) throws IOException {
      var message = new Message();
      try (ShmGuest guest = ShmGuest.attach(Sys.forAnyThread(), args, WaitStrategy.ADAPTIVE)) {
        // Until the host says goodbye, or is gone: then it is OVER.
        while (guest.receiveBlocking(message, FOREVER) == Awaited.READY) {
          if (message.kind() == MessageKind.REQUEST) {
            int words = message.text().split("\\s+").length;
            byte[] answer = "%d words".formatted(words).getBytes(UTF_8);
            guest.sendBlocking(
                MessageKind.RESPONSE, message.id(), 0, answer, 0, answer.length, FOREVER);
          }
        }
      }
    }
  }

  // @end

  public static void main(String[] args) throws Exception {
    List<String> command =
        List.of(
            System.getProperty("java.home") + "/bin/java",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            Counter.class.getName());
    // @start region="host"
    try (EventLoopGroup group = EventLoopGroup.open(1, LoopOptions.DEFAULT)) {
      group.start(); // the thread that looks after the guests
      try (ShmHost host = ShmHost.create(group.next(), HostOptions.DEFAULT)) {
        Peer counter = host.spawn(command, host.addPeer(PeerOptions.DEFAULT.withName("counter")));
        byte[] line = "to be or not to be".getBytes(UTF_8);
        long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        counter.sendBlocking(MessageKind.REQUEST, 1, 0, line, 0, line.length, deadline);
        var answer = new Message();
        switch (counter.receiveBlocking(answer, deadline)) {
          case READY -> System.out.println(answer.text());
          case TIMEOUT -> System.out.println("no answer in time");
          case OVER -> System.out.println("it has died");
        }
      } // it says goodbye, and the guest leaves
    }
    // @end
  }
}
