package dev.belfry.shm;

import static dev.belfry.shm.WaitStrategy.ADAPTIVE;
import static dev.belfry.shm.WaitStrategy.SLEEP;
import static dev.belfry.shm.WaitStrategy.SPIN;
import static dev.belfry.shm.WaitStrategy.YIELD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Host and guest in two processes. Without the stress property, a tenth of the messages. */
@Timeout(600)
final class TwoProcessTest {
  private static final boolean STRESS = Boolean.getBoolean("belfry.stress");
  private static final SegmentConfig USUAL =
      SegmentConfig.DEFAULT.withMaxGuests(1).withSlots(16, 1032);

  @TempDir private Path directory;

  private static int tenth(int count) {
    return STRESS ? count : count / 10;
  }

  static Stream<Arguments> flows() {
    return Stream.of(Placement.values())
        .flatMap(
            placement ->
                Stream.of(
                    flow(placement, SPIN, USUAL, 1_000_000, 1024, 0),
                    flow(placement, ADAPTIVE, USUAL, 1_000_000, 1024, 0),
                    flow(placement, YIELD, USUAL, 100_000, 1024, 0),
                    flow(placement, SLEEP, USUAL, 100_000, 1024, 0),
                    flow(placement, ADAPTIVE, SegmentConfig.DEFAULT, 100_000, 65532, 0),
                    flow(placement, ADAPTIVE, manyPockets(), 100_000, 1400, -500),
                    flow(placement, ADAPTIVE, tiny(), 50_000, 1024, 0),
                    flow(placement, ADAPTIVE, USUAL, 100_000, 64, -500)));
  }

  /** A ring with more descriptors than pockets, and messages too long for a pocket. */
  private static SegmentConfig manyPockets() {
    return SegmentConfig.DEFAULT.withMaxGuests(1).withRingSize(1024);
  }

  private static SegmentConfig tiny() {
    return USUAL.withRingSize(2).withSlots(1, 1032);
  }

  private static Arguments flow(
      Placement placement,
      WaitStrategy strategy,
      SegmentConfig config,
      int count,
      int largest,
      int start) {
    return Arguments.of(placement, strategy, config, tenth(count), largest, start);
  }

  // r[verify shm.ordering.ring-publish]
  // r[verify shm.ordering.ring-consume]
  // r[verify shm.ring.capacity]
  // r[verify shm.placement.padded]
  @ParameterizedTest(name = "{0} {1} {3} messages of up to {4} bytes from {5}")
  @MethodSource("flows")
  void messagesArriveInOrderAndWholeBothWays(
      Placement placement,
      WaitStrategy strategy,
      SegmentConfig config,
      int count,
      int largest,
      int start)
      throws Exception {
    exchange(Sys.forAnyThread(), "futex", placement, strategy, config, count, largest, start);
  }

  // r[verify shm.wakeup.fallback]
  @ParameterizedTest
  @EnumSource
  void theSameWithoutFutexes(Placement placement) throws Exception {
    for (SegmentConfig config : new SegmentConfig[] {USUAL, tiny()}) {
      exchange(
          GuestProgram.withoutFutexes(),
          "polling",
          placement,
          ADAPTIVE,
          config,
          tenth(20_000),
          1024,
          0);
    }
  }

  private void exchange(
      Sys sys,
      String waiting,
      Placement placement,
      WaitStrategy strategy,
      SegmentConfig config,
      int count,
      int largest,
      int start)
      throws Exception {
    Path path = directory.resolve("hub");
    try (Segment host = Segment.create(sys, path, placement, config);
        TestProcess guest =
            TestProcess.java(
                GuestProgram.class,
                "exchange",
                path.toString(),
                strategy.name(),
                waiting,
                String.valueOf(count),
                String.valueOf(largest),
                String.valueOf(start))) {
      assertThat(guest.line()).isEqualTo("attached");
      Link link = Link.toGuest(host, 1, strategy);
      for (Direction direction : Direction.values()) {
        Memory memory = host.memory();
        memory.setInt(memory.address(host.layout().head(1, direction), 4), start);
        memory.setInt(memory.address(host.layout().tail(1, direction), 4), start);
      }
      link.outbox().startAt(start);
      link.inbox().startAt(start);
      guest.say("go");
      new Flow(count, largest).exchange(link, strategy);
      assertThat(guest.line()).isEqualTo("done");
      assertThat(guest.exitCode()).isZero();
      assertThat(host.peers().state(1)).isEqualTo(PeerState.GOODBYE);
      for (int owner = 0; owner <= 1; owner++) {
        assertThat(SegmentSnapshot.freeSlots(host.memory(), host.layout(), owner))
            .as("free slots of pool %d", owner)
            .isEqualTo(config.slotsPerGuest());
      }
    }
  }

  // r[verify shm.ring.full]
  // r[verify shm.wakeup.producer-wait]
  @ParameterizedTest
  @EnumSource
  void aSenderBlockedOnAFullRingGoesOnWhenOneMessageIsRead(Placement placement) throws Exception {
    Path path = directory.resolve("hub");
    try (Segment host = Segment.create(Sys.forAnyThread(), path, placement, USUAL.withRingSize(4));
        TestProcess guest =
            TestProcess.java(GuestProgram.class, "fill", path.toString(), "SLEEP", "futex")) {
      for (int i = 0; i < 3; i++) {
        assertThat(guest.line()).isEqualTo("SENT");
      }
      assertThat(guest.line()).isEqualTo("RING_FULL");
      SleepingThreads.await(guest, 1);
      Link link = Link.toGuest(host, 1, SLEEP);
      var message = new Message();
      assertThat(link.inbox().receive(message)).isTrue();
      assertThat(guest.line()).isEqualTo("SENT");
      for (int id : new int[] {1, 2, 99}) {
        assertThat(link.inbox().receive(message)).isTrue();
        assertThat(message.id()).isEqualTo(id);
      }
      assertThat(guest.line()).isEqualTo("done");
    }
  }

  /** No side polls: a single lost wake-up would stop everything. */
  // r[verify shm.placement.padded]
  // r[verify shm.wakeup.consumer-wait]
  @ParameterizedTest
  @EnumSource
  void noWakeUpIsLost(Placement placement) throws Exception {
    int handOvers = STRESS ? 300_000 : 30_000;
    Path path = directory.resolve("hub");
    long asleep = 0;
    int messages = handOvers;
    try (Segment host = Segment.create(Sys.forAnyThread(), path, placement, USUAL);
        TestProcess guest =
            TestProcess.java(
                GuestProgram.class,
                "answer",
                path.toString(),
                "SLEEP",
                "futex",
                String.valueOf(messages))) {
      assertThat(guest.line()).isEqualTo("attached");
      Link link = Link.toGuest(host, 1, SLEEP);
      link.inbox().sleepAtMost(Sleeper.NEVER_NANOS);
      var random = new Random(1);
      var message = new Message();
      byte[] bytes = new byte[16];
      for (int i = 0; i < messages; i++) {
        Pauses.pause(random);
        assertThat(link.outbox().send(MessageKind.REQUEST, i, 0, bytes, 0, 16))
            .isEqualTo(SendResult.SENT);
        assertThat(link.inbox().receive(message, Sides.inMillis(60_000))).isEqualTo(Awaited.READY);
        assertThat(message.id()).isEqualTo(i);
      }
      asleep = link.inbox().sleeps() + Long.parseLong(guest.line("sleeps "));
      assertThat(asleep).as("hand-overs to a sleeper").isGreaterThanOrEqualTo(handOvers);
    }
  }

  /** Only the waiting thread, and not for long: other activity of the JVM would hide the answer. */
  @ParameterizedTest
  @EnumSource
  void aWaitingThreadHardlyRuns(Placement placement) throws Exception {
    Path path = directory.resolve("hub");
    try (Segment host = Segment.create(Sys.forAnyThread(), path, placement, USUAL);
        TestProcess guest =
            TestProcess.java(GuestProgram.class, "wait", path.toString(), "ADAPTIVE", "futex")) {
      int thread = SleepingThreads.await(guest, 1).getFirst();
      Path task = Path.of("/proc/%d/task/%d".formatted(guest.pid(), thread));
      long switchesBefore = switches(task);
      long began = System.nanoTime();
      Thread.sleep(1500);
      long switches = switches(task) - switchesBefore;
      // It wakes up at the end of each slice and goes back to sleep at once; if it spun or polled,
      // it would be switched hundreds of times, or never.
      long stretches = (System.nanoTime() - began) / Waiter.SLICE_NANOS;
      assertThat(switches).isBetween(1L, stretches + 5);
      host.sayGoodbye();
      assertThat(guest.rest()).contains("OVER");
    }
  }

  private static long switches(Path task) throws Exception {
    String name = "voluntary_ctxt_switches:";
    return Files.readAllLines(task.resolve("status")).stream()
        .filter(line -> line.startsWith(name))
        .mapToLong(line -> Long.parseLong(line.substring(name.length()).strip()))
        .findFirst()
        .orElseThrow();
  }

  /**
   * Each process of a waiting pair; within a few seconds, other activity of a JVM would hide the
   * answer.
   */
  @EnabledIfSystemProperty(named = "belfry.stress", matches = "true")
  @ParameterizedTest
  @EnumSource
  void waitingCostsNextToNothing(Placement placement) throws Exception {
    long seconds = 60;
    Path path = directory.resolve("hub");
    try (Segment host = Segment.create(Sys.forAnyThread(), path, placement, USUAL);
        TestProcess guest =
            TestProcess.java(GuestProgram.class, "wait", path.toString(), "ADAPTIVE", "futex")) {
      assertThat(guest.line()).isEqualTo("attached");
      long before = settledTicks(guest.pid());
      long deadline = System.nanoTime() + seconds * 1_000_000_000;
      assertThat(Link.toGuest(host, 1, ADAPTIVE).inbox().awaitData(deadline))
          .isEqualTo(Awaited.TIMEOUT);
      // A tick is 10 ms: half a per cent of the time, plus the tick that had begun.
      assertThat(cpuTicks(guest.pid()) - before).isLessThanOrEqualTo(seconds / 2 + 1);
      host.sayGoodbye();
      assertThat(guest.line()).isEqualTo("OVER");
    }
  }

  /** The time used by a JVM once it has settled: it used none within a second. */
  private static long settledTicks(int pid) throws Exception {
    long deadline = System.nanoTime() + TestProcess.PATIENCE.toNanos();
    long ticks = cpuTicks(pid);
    while (true) {
      Thread.sleep(1000);
      long now = cpuTicks(pid);
      if (now == ticks) {
        return now;
      }
      assertThat(System.nanoTime()).as("time until it settles").isLessThan(deadline);
      ticks = now;
    }
  }

  private static long cpuTicks(int pid) throws Exception {
    String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
  }

  /** Three ids, two of the guest's and one of the host's; a lost id would stop everything. */
  // r[verify shm.flow.channel-id-reuse]
  @ParameterizedTest
  @EnumSource
  void noByteOfOneLifeOfAChannelAppearsInTheNext(Placement placement) throws Exception {
    int lives = STRESS ? 500_000 : 5_000;
    Path path = directory.resolve("hub");
    SegmentConfig config = USUAL.withRingSize(32).withChannels(4, 40);
    try (Segment host = Segment.create(Sys.forAnyThread(), path, placement, config);
        TestProcess guest =
            TestProcess.java(
                GuestProgram.class, "churn", path.toString(), "SPIN", "futex", "" + lives)) {
      long deadline = System.nanoTime() + TestProcess.PATIENCE.toNanos();
      while (host.peers().state(1) != PeerState.ATTACHED) {
        assertThat(System.nanoTime()).as("time until it attaches").isLessThan(deadline);
      }
      assertThat(new ChannelChurn(Link.toGuest(host, 1, SPIN), lives, 2).run())
          .isGreaterThan(lives / 4);
      assertThat(Integer.parseInt(guest.line("delivered "))).isGreaterThan(lives / 4);
    }
  }

  // r[verify shm.goodbye.host]
  // r[verify shm.wakeup.consumer-wait]
  @Test
  void aSleeperInAnotherProcessIsWokenByTheHostsGoodbye() throws Exception {
    Path path = directory.resolve("hub");
    try (Segment host = Segment.create(Sys.forAnyThread(), path, Placement.V1, USUAL);
        TestProcess guest =
            TestProcess.java(GuestProgram.class, "wait", path.toString(), "SLEEP", "futex")) {
      assertThat(guest.line()).isEqualTo("attached");
      SleepingThreads.await(guest, 1);
      host.sayGoodbye();
      assertThat(guest.line()).isEqualTo("OVER");
    }
  }
}
