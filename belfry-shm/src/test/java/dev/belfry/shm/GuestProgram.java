package dev.belfry.shm;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;

/** The guest of the two-process tests; its first argument selects what it does. */
final class GuestProgram {
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private GuestProgram() {}

  public static void main(String[] arguments) throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    Sys sys =
        switch (arguments[3]) {
          case "polling" -> withoutFutexes();
          case "counted" -> tap.sys();
          default -> Sys.forAnyThread();
        };
    WaitStrategy strategy = WaitStrategy.valueOf(arguments[2]);
    Segment segment = Segment.attach(sys, Path.of(arguments[1]));
    Link link = Link.walkIn(segment, strategy);
    switch (arguments[0]) {
      case "exchange" -> {
        int start = Integer.parseInt(arguments[6]);
        link.outbox().startAt(start);
        link.inbox().startAt(start);
        System.out.println("attached");
        System.in.read();
        new Flow(Integer.parseInt(arguments[4]), Integer.parseInt(arguments[5]))
            .exchange(link, strategy);
      }
      case "answer" -> answer(link, Integer.parseInt(arguments[4]));
      case "fill" -> fill(link);
      case "wait" -> {
        System.out.println("attached");
        System.out.println(link.inbox().awaitData(FutexWait.FOREVER));
      }
      case "churn" -> {
        int delivered = new ChannelChurn(link, Integer.parseInt(arguments[4]), 1).run();
        System.out.println("delivered " + delivered);
      }
      case "borrow" -> {
        System.out.println("attached");
        new BorrowedBuffer(link).produce(Integer.parseInt(arguments[4]));
      }
      case "waits" -> waitInterrupted(link, tap);
      default -> throw new IllegalArgumentException(arguments[0]);
    }
    link.leave(System.nanoTime() + PATIENCE_NANOS);
    System.out.println("done");
  }

  /** A kernel whose seccomp filter refuses futexes. */
  static Sys withoutFutexes() {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    tap.fail("futex", Errno.ENOSYS);
    tap.fail("futexWaitv", Errno.ENOSYS);
    return tap.sys();
  }

  /** Answers messages, after a pause that is sometimes zero and sometimes longer than a sleep. */
  private static void answer(Link link, int count) throws IOException {
    System.out.println("attached");
    link.inbox().sleepAtMost(Sleeper.NEVER_NANOS);
    var random = new Random(count);
    var message = new Message();
    for (int i = 0; i < count; i++) {
      if (link.inbox().receive(message, System.nanoTime() + PATIENCE_NANOS) != Awaited.READY) {
        throw new AssertionError("no message " + i);
      }
      Pauses.pause(random);
      link.outbox()
          .send(MessageKind.RESPONSE, message.id(), 0, message.bytes(), 0, message.length());
    }
    System.out.println("sleeps " + link.inbox().sleeps());
  }

  /** Waits for 100 ms at a time until such a wait has been interrupted several times. */
  private static void waitInterrupted(Link link, SysTap tap) {
    link.inbox().receive(new Message(), FutexWait.FOREVER);
    long nanos;
    long before;
    do {
      before = tap.calls("futex");
      long began = System.nanoTime();
      link.inbox().awaitData(began + 100_000_000);
      nanos = System.nanoTime() - began;
    } while (tap.calls("futex") - before < 10);
    System.out.println("waited millis " + nanos / 1_000_000);
  }

  /** Fills a ring of four and blocks in the fourth send. */
  private static void fill(Link link) {
    for (int i = 0; i < 3; i++) {
      System.out.println(Sides.send(link, i, new byte[1]));
    }
    System.out.println(Sides.send(link, 99, new byte[1]));
    SendResult fourth =
        link.outbox()
            .send(
                MessageKind.REQUEST, 99, 0, new byte[1], 0, 1, System.nanoTime() + PATIENCE_NANOS);
    System.out.println(fourth);
  }
}
