package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.WaitStrategy.SLEEP;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.CProgram;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Who sleeps in another process is woken by the right call, and sees every end in time. */
final class WakeTest {
  /** Enough of them that a busy machine does not spoil the middle one. */
  private static final int ROUNDS = 5;

  private static final long SOON_NANOS = 100_000_000;

  @TempDir private Path directory;

  static Stream<Arguments> calls() {
    return Stream.of(Placement.values())
        .flatMap(
            placement ->
                Stream.of("data consumers", "space producers", "space slots", "credit credit")
                    .map(it -> it.split(" ", -1))
                    .map(it -> Arguments.of(placement, it[0], it[1])));
  }

  // r[verify shm.wakeup.wakes]
  @ParameterizedTest(name = "{0}: {2}")
  @MethodSource("calls")
  void eachCallWakesAllSleepersOfItsKindAndNoOther(Placement placement, String place, String call)
      throws Exception {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      String path =
          "/proc/%d/fd/%d".formatted(ProcessHandle.current().pid(), sides.host.descriptor());
      Map<String, IntSupplier> calls = calls(sides);
      assertThat(calls.values()).allSatisfy(wake -> assertThat(wake.getAsInt()).isZero());
      try (TestProcess two = TestProcess.java(SleeperProgram.class, path, place, "2");
          TestProcess one = TestProcess.java(SleeperProgram.class, path, place, "1")) {
        awaitSleepers(two, 2);
        awaitSleepers(one, 1);
        calls.forEach(
            (name, wake) -> {
              // Who waits for space and who waits for a slot sleep at the same word.
              if (!name.equals(call)
                  && !(place.equals("space") && name.matches("producers|slots"))) {
                assertThat(wake.getAsInt()).as(name).isZero();
              }
            });
        assertThat(Objects.requireNonNull(calls.get(call)).getAsInt()).isEqualTo(3);
        assertThat(two.rest()).containsExactly("WOKEN", "WOKEN");
        assertThat(one.rest()).containsExactly("WOKEN");
      }
    }
  }

  /** The host's calls for what a guest waits for. */
  private static Map<String, IntSupplier> calls(Sides sides) {
    Objects.requireNonNull(sides.toHost.channels().open()).send(new byte[0], 0, 0);
    var message = new Message();
    assertThat(sides.toGuest.inbox().receive(message)).isTrue();
    Channel channel = Objects.requireNonNull(sides.toGuest.channels().of(message));
    var calls = new LinkedHashMap<String, IntSupplier>();
    calls.put("consumers", sides.toGuest.outbox()::wakeConsumers);
    calls.put("producers", sides.toGuest.inbox()::wakeProducers);
    calls.put("slots", sides.toGuest.inbox()::wakeSlotWaiters);
    calls.put("credit", channel::wakeSenders);
    return calls;
  }

  private static void awaitSleepers(TestProcess process, int count) throws IOException {
    long deadline = System.nanoTime() + TestProcess.PATIENCE.toNanos();
    while (SleepingThreads.count(process.pid()) < count) {
      assertThat(System.nanoTime()).as("time until %d sleep", count).isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  /** The JVM has a harmless handler for the signal, but a system call is interrupted by it. */
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
      awaitSleepers(guest, 1);
      int thread = SleepingThreads.ids(guest.pid()).getFirst();
      try (TestProcess _ =
          TestProcess.start(
              storm.toString(), String.valueOf(guest.pid()), String.valueOf(thread))) {
        assertThat(Sides.send(Link.toGuest(host, 1, SLEEP), 1, new byte[0]))
            .isEqualTo(SendResult.SENT);
        var micros = new long[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
          micros[i] = Long.parseLong(guest.line("waited "));
          assertThat(micros[i]).isGreaterThanOrEqualTo(100_000);
          assertThat(Long.parseLong(guest.line("calls "))).as("interrupted").isGreaterThan(20);
        }
        Arrays.sort(micros);
        assertThat(micros[ROUNDS / 2]).isLessThan(150_000);
      }
    }
  }

  /** How the peer of a sleeper can end, or its own side. */
  enum End {
    DEATH,
    GOODBYE,
    CLOSE
  }

  // r[verify shm.wakeup.consumer-wait]
  @ParameterizedTest
  @EnumSource
  void aWaitEndsSoonAfterEveryEnd(End end) throws Exception {
    var nanos = new long[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
      Path path = directory.resolve("hub");
      try (Segment host = Segment.create(Sys.forAnyThread(), path, Placement.V1, CONFIG);
          TestProcess guest =
              TestProcess.java(GuestProgram.class, "stay", path.toString(), "SLEEP", "futex")) {
        assertThat(guest.line()).isEqualTo("attached");
        Link link = Link.toGuest(host, 1, SLEEP);
        CompletableFuture<Long> waiting = waiting(link);
        long ended = end(end, link, host, guest);
        nanos[i] = waiting.get() - ended;
      }
    }
    Arrays.sort(nanos);
    assertThat(nanos[ROUNDS / 2]).isLessThan(SOON_NANOS);
  }

  /** Sleeps until it is over, and says when that was. */
  private static CompletableFuture<Long> waiting(Link link) throws IOException {
    CompletableFuture<Long> waiting =
        CompletableFuture.supplyAsync(
            () -> {
              assertThat(link.inbox().awaitData(FutexWait.FOREVER)).isEqualTo(Awaited.OVER);
              return System.nanoTime();
            });
    while (SleepingThreads.count() == 0) {
      assertThat(waiting).isNotDone();
    }
    return waiting;
  }

  /** Brings the end about; returns a time just before it. */
  private static long end(End end, Link link, Segment host, TestProcess guest) throws Exception {
    if (end == End.DEATH) {
      guest.kill();
      guest.exitCode();
    }
    long before = System.nanoTime();
    switch (end) {
      case DEATH -> host.peers().leave(1, 1); // what a host does that has seen it
      case GOODBYE -> guest.say("go");
      case CLOSE -> link.close();
    }
    return before;
  }
}
