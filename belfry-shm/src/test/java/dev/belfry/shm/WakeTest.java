package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.WaitStrategy.SLEEP;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.CProgram;
import dev.belfry.testkit.SysTap;
import dev.belfry.testkit.TestProcess;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Sleepers are woken by the right call, also in other processes, and notice every end in time. */
final class WakeTest {
  private static final long SOON_NANOS = 100_000_000;

  @TempDir private Path directory;

  /** Three threads sleep at each place: two in this process, one in another. */
  // r[verify shm.wakeup.wakes]
  @ParameterizedTest
  @CsvSource({"V1, producers", "V1, slots", "PADDED, producers", "PADDED, slots"})
  void eachCallWakesAllSleepersOfItsKindAndNoOther(Placement placement, String forSpace)
      throws Exception {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      String path =
          "/proc/%d/fd/%d".formatted(ProcessHandle.current().pid(), sides.host.descriptor());
      Outbox outbox = sides.toGuest.outbox();
      Inbox inbox = sides.toGuest.inbox();
      Channel channel = channel(sides);
      assertThat(outbox.wakeConsumers()).isZero();
      assertThat(inbox.wakeProducers()).isZero();
      assertThat(inbox.wakeSlotWaiters()).isZero();
      assertThat(channel.wakeSenders()).isZero();
      try (TestProcess two = TestProcess.java(SleeperProgram.class, path, "2");
          TestProcess one = TestProcess.java(SleeperProgram.class, path, "1")) {
        SleepingThreads.await(two, 6);
        SleepingThreads.await(one, 3);
        assertWakesThree(outbox::wakeConsumers, "data WOKEN", two, one);
        assertWakesThree(channel::wakeSenders, "credit WOKEN", two, one);
        assertWakesThree(
            forSpace.equals("slots") ? inbox::wakeSlotWaiters : inbox::wakeProducers,
            "space WOKEN",
            two,
            one);
        assertThat(List.of(two.rest(), one.rest())).containsOnly(List.of());
      }
    }
  }

  private static void assertWakesThree(
      IntSupplier wake, String line, TestProcess two, TestProcess one) throws InterruptedException {
    int woken = wake.getAsInt();
    // A thread that is seen in its system call may not be queued yet.
    long deadline = System.nanoTime() + TestProcess.PATIENCE.toNanos();
    while (woken < 3 && System.nanoTime() < deadline) {
      woken += wake.getAsInt();
    }
    assertThat(woken).as(line).isEqualTo(3);
    assertThat(List.of(two.line(), two.line(), one.line())).containsOnly(line);
  }

  /** The host's end of a channel that the guest has opened. */
  private static Channel channel(Sides sides) {
    Objects.requireNonNull(sides.toHost.channels().open()).send(new byte[0], 0, 0);
    var message = new Message();
    assertThat(sides.toGuest.inbox().receive(message)).isTrue();
    return Objects.requireNonNull(sides.toGuest.channels().of(message));
  }

  /**
   * The JVM has a harmless handler for the signal, but the signal interrupts a system call. With a
   * relative time-out, restarted each time, a wait would never end.
   */
  // r[verify shm.wakeup.consumer-wait]
  @ParameterizedTest
  @EnumSource
  void signalsDoNotLengthenAWait(Placement placement) throws Exception {
    Path storm =
        CProgram.compile(
            directory,
            "storm",
            """
            #include <signal.h>
            #include <stdlib.h>
            #include <sys/syscall.h>
            #include <unistd.h>
            int main(int argc, char **argv) {
              while (syscall(SYS_tgkill, atoi(argv[1]), atoi(argv[2]), SIGUSR2) == 0)
                usleep(1000);
            }
            """);
    Path path = directory.resolve("hub");
    try (Segment host = Segment.create(Sys.forAnyThread(), path, placement, CONFIG);
        TestProcess guest =
            TestProcess.java(GuestProgram.class, "waits", path.toString(), "SLEEP", "counted")) {
      int thread = SleepingThreads.await(guest, 1).getFirst();
      try (TestProcess _ =
          TestProcess.start(
              storm.toString(), String.valueOf(guest.pid()), String.valueOf(thread))) {
        assertThat(Sides.send(Link.toGuest(host, 1, SLEEP), 1, new byte[0]))
            .isEqualTo(SendResult.SENT);
        assertThat(Long.parseLong(guest.line("waited millis "))).isBetween(100L, 10_000L);
      }
    }
  }

  /** How the peer of a sleeper, or its own side, can end. */
  enum End {
    /** The host has seen that the guest is dead. */
    DEATH,
    GOODBYE,
    CLOSE
  }

  // r[verify shm.wakeup.consumer-wait]
  @ParameterizedTest
  @EnumSource
  void aWaitEndsSoonAfterEveryEnd(End end) throws Exception {
    long best = Long.MAX_VALUE;
    // A busy machine may be late now and then, but not always.
    for (int i = 0; i < 10 && best >= SOON_NANOS; i++) {
      try (Sides sides = Sides.of(Sys.forAnyThread(), Placement.V1, CONFIG, SLEEP)) {
        Sleeper<Long> waiting = waiting(sides.toGuest);
        long ended = System.nanoTime();
        switch (end) {
          case DEATH -> sides.host.peers().leave(1, 1);
          case GOODBYE -> sides.toHost.leave(0);
          case CLOSE -> sides.toGuest.close();
        }
        best = Math.min(best, waiting.get() - ended);
      }
    }
    assertThat(best).isLessThan(SOON_NANOS);
  }

  /** In format 1 nothing announces it: it used to be noticed at the end of a slice, 50 ms later. */
  @Test
  void whoWaitsUntilAllIsReadDoesNotSleepOn() throws Exception {
    try (Sides sides = Sides.of(Sys.forAnyThread(), Placement.V1, CONFIG, SLEEP)) {
      Sides.send(sides.toHost, 1, new byte[9]);
      sides.toHost.outbox().sleepAtMost(Sleeper.NEVER_NANOS);
      Sleeper<Awaited> read =
          Sleeper.start(() -> sides.toHost.outbox().awaitAllRead(FutexWait.FOREVER));
      assertThat(sides.toGuest.inbox().receive(new Message())).isTrue();
      assertThat(read.get()).isEqualTo(Awaited.READY);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aPeerThatWakesNobodyIsNoticed(Placement placement) throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    tap.script(
        "futex",
        (_, arguments) -> arguments.length == 3 ? OptionalLong.of(0) : OptionalLong.empty());
    try (Sides sides = Sides.of(tap.sys(), placement, CONFIG, SLEEP)) {
      Inbox inbox = sides.toGuest.inbox();
      Sleeper<Awaited> waiting = Sleeper.start(() -> inbox.awaitData(FutexWait.FOREVER));
      assertThat(inbox.unwoken()).isZero();
      Sides.send(sides.toHost, 1, new byte[1]);
      assertThat(waiting.get()).isEqualTo(Awaited.READY);
      assertThat(inbox.unwoken()).isEqualTo(1);
    }
  }

  /**
   * A thread had tested whether the link was over and was about to sleep when another closed it.
   * There was no sleeper to wake yet, so the thread used to sleep for 50 ms.
   */
  @Test
  void whoIsJustAboutToSleepIsNotMissed() throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    try (Sides sides = Sides.of(tap.sys(), Placement.PADDED, CONFIG, SLEEP)) {
      var sleeps = new ArrayList<Boolean>();
      tap.script(
          "futex",
          (nth, arguments) -> {
            boolean waits = arguments.length > 3;
            if (waits && nth == 1) {
              sides.toGuest.close();
              var word = (MemorySegment) arguments[0];
              sleeps.add(word.get(ValueLayout.JAVA_INT, 0) == (int) arguments[2]);
            }
            return OptionalLong.empty();
          });
      assertThat(sides.toGuest.inbox().awaitData(FutexWait.FOREVER)).isEqualTo(Awaited.OVER);
      assertThat(sleeps).as("whether the kernel lets it sleep").containsExactly(false);
    }
  }

  /** Sleeps until the link is over, and returns the time. */
  private static Sleeper<Long> waiting(Link link) throws Exception {
    return Sleeper.start(
        () -> {
          assertThat(link.inbox().awaitData(FutexWait.FOREVER)).isEqualTo(Awaited.OVER);
          return System.nanoTime();
        });
  }

  /**
   * A thread had armed the bell, had looked, and was about to release the receivers' turn when the
   * bell rang. The loop did not get the turn, the thread did not look again, and the message used
   * to lie there until the next round.
   */
  // r[verify shm.doorbell.ring-integration]
  @ParameterizedTest
  @EnumSource
  void aRingThatComesWhileAnotherIsJustLeavingIsNotLost(Placement placement) throws Exception {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      var receiving = new Receiving(sides.toGuest, new BellWait(null));
      var received = new ArrayList<Long>();
      var scratch = new Message();
      IntSupplier loop =
          () ->
              CompletableFuture.supplyAsync(
                      () -> receiving.receiveWanted(m -> received.add(m.id()), scratch, 4))
                  .join();
      assertThat(receiving.tryReceiving()).isTrue();
      assertThat(receiving.endReceivingDeaf()).as("nobody came").isFalse();

      assertThat(receiving.tryReceiving()).isTrue();
      sides.toGuest.inbox().ring().armDataAtBell();
      Sides.send(sides.toHost, 1, new byte[0]);
      assertThat(loop.getAsInt()).isEqualTo(-1);
      assertThat(receiving.endReceivingDeaf()).as("the loop has to come again").isTrue();
      assertThat(loop.getAsInt()).isEqualTo(1);
      assertThat(received).containsExactly(1L);

      assertThat(receiving.tryReceiving()).isTrue();
      assertThat(receiving.endReceivingDeaf()).as("it did").isFalse();
      assertThat(receiving.tryReceiving()).isTrue();
      assertThat(loop.getAsInt()).isEqualTo(-1);
      assertThat(receiving.endReceiving(_ -> {}, scratch, 4))
          .as("what it came for was looked for after it")
          .isZero();
    }
  }

  /**
   * A sender read where the receiver sleeps, and then marked it as woken. If the receiver had gone
   * to sleep elsewhere meanwhile, it used to sleep on.
   */
  // r[verify shm.placement.padded]
  @Test
  @Timeout(120)
  void aReceiverIsWokenWhereItSleepsByThen() throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    Doorbell.Pair bells = Doorbell.pair(Sys.forAnyThread());
    var stop = new AtomicBoolean();
    try (Sides sides = Sides.of(tap.sys(), Placement.PADDED, CONFIG, SLEEP)) {
      var ring = new Ring(sides.host, 1, Direction.TO_HOST, bells.guest());
      Thread sender =
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; !stop.get(); i++) {
                      ring.publish(i, i + 1);
                    }
                  });
      for (int i = 0; i < 100_000; i++) {
        ring.armDataAtBell();
        ring.receiverAwake();
        long before = tap.calls("futex");
        ring.armData();
        long deadline = Sides.inMillis(20_000);
        while (tap.calls("futex") == before) {
          assertThat(System.nanoTime() - deadline).as("sleep %d", i).isNegative();
        }
      }
      stop.set(true);
      sender.join();
    } finally {
      stop.set(true);
      bells.host().close();
      bells.guest().close();
    }
  }
}
