package dev.belfry.loop;

import static dev.belfry.loop.LoopSupport.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.belfry.linux.Errno;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalMask;
import dev.belfry.linux.Sys;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

final class EventLoopGroupTest {
  private static final int SIGUSR1 = 10;

  private static EventLoopGroup group(Backend backend, int size) throws IOException {
    return EventLoopGroup.open(size, LoopOptions.DEFAULT.withBackend(backend));
  }

  @EveryBackend
  void everyLoopHasAThreadOfItsOwn(Backend backend) throws Exception {
    Descriptors before = Descriptors.now();
    var threads = new HashSet<Thread>();
    try (EventLoopGroup group = group(backend, 3)) {
      group.start();
      for (EventLoop loop : group.loops()) {
        var thread = new CompletableFuture<Thread>();
        loop.scheduler().execute(() -> thread.complete(Thread.currentThread()));
        threads.add(LoopSupport.get(thread));
      }
      assertThat(threads).hasSize(3).allMatch(thread -> thread.getName().startsWith("belfry-loop"));
      EventLoop first = group.next();
      EventLoop second = group.next();
      EventLoop third = group.next();
      assertThat(List.of(first, second, third)).containsExactlyElementsOf(group.loops());
      assertThat(group.next()).isSameAs(first);
      assertThatIllegalStateException().isThrownBy(group::start);
    }
    assertThat(threads).noneMatch(Thread::isAlive);
    assertThat(before.openedSince()).isEmpty();
  }

  // Otherwise each connection belongs to the acceptor's loop, and the other loops have none to
  // serve.
  // r[verify loop.accept.once]
  @EveryBackend
  void aConnectionIsAcceptedForTheLoopThatServesIt(Backend backend) throws Exception {
    try (EventLoopGroup group = group(backend, 2);
        Arena arena = Arena.ofShared()) {
      group.start();
      EventLoop accepting = group.next();
      EventLoop serving = group.next();
      Acceptor acceptor =
          Acceptor.open(accepting, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      var client = StreamSocket.open(accepting, StandardProtocolFamily.INET);
      client.connect(acceptor.localAddress()).await();
      StreamSocket served = acceptor.accept(serving).await();
      assertThat(served.loop()).isSameAs(serving);
      var inLoop = new CompletableFuture<Boolean>();
      served
          .writeAll(arena.allocateFrom("hi"))
          .start(_ -> inLoop.complete(serving.inLoop() && !accepting.inLoop()));
      assertThat(LoopSupport.get(inLoop)).isTrue();
      MemorySegment buffer = arena.allocate(3);
      assertThat(client.readAll(buffer).await()).isEqualTo(3);
      assertThat(buffer.getString(0)).isEqualTo("hi");
      served.close();
      assertThat(client.readSome(buffer).await()).isEqualTo(TransferOperation.END_OF_FILE);
      client.close();
      acceptor.close();
    }
  }

  @Test
  void aGroupHasAtLeastOneLoop() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> EventLoopGroup.open(0, LoopOptions.DEFAULT));
  }

  // r[verify sig.mask.group]
  @EveryBackend
  void theThreadsRunWithTheGivenSignalsBlocked(Backend backend) throws Exception {
    try (EventLoopGroup group = group(backend, 2)) {
      group.start(SignalSet.of(SIGUSR1));
      for (EventLoop loop : group.loops()) {
        var mask = new CompletableFuture<SigSet>();
        loop.scheduler()
            .execute(
                () -> {
                  try {
                    mask.complete(SignalMask.block(Sys.forAnyThread(), SigSet.EMPTY));
                  } catch (IOException e) {
                    mask.completeExceptionally(e);
                  }
                });
        assertThat(LoopSupport.get(mask).contains(SIGUSR1)).isTrue();
      }
      assertThat(SignalMask.block(Sys.forAnyThread(), SigSet.EMPTY).contains(SIGUSR1)).isFalse();
    }
  }

  @EveryBackend
  void aGroupMayBeClosedAtAnyTime(Backend backend) throws Exception {
    group(backend, 2).close();
    EventLoopGroup twice = group(backend, 2);
    twice.start();
    twice.close();
    twice.close();
    assertThatIllegalStateException().isThrownBy(twice::start);
    assertThatIllegalStateException().isThrownBy(() -> twice.watch(Duration.ofSeconds(1)));
    EventLoopGroup watched = group(backend, 1);
    watched.watch(Duration.ofSeconds(1));
    watched.close();
    EventLoopGroup loopFirst = group(backend, 2);
    loopFirst.start();
    loopFirst.loops().getFirst().close();
    loopFirst.close();
  }

  @EveryBackend
  void workWaitsUntilTheGroupIsStartedOrClosed(Backend backend) throws Exception {
    try (EventLoopGroup started = group(backend, 1);
        EventLoopGroup closed = group(backend, 1)) {
      var runs = started.next().spawn("runs", () -> "ran").result();
      var fires = started.next().scheduler().after(Duration.ZERO).toFuture();
      EventLoop never = closed.next();
      var interrupted = never.spawn("interrupted", () -> never.sleep(PATIENCE)).result();
      var stopped = never.scheduler().schedule().toFuture();
      assertThat(fires).isNotDone();
      started.start();
      assertThat(LoopSupport.get(runs)).isEqualTo("ran");
      assertThat(LoopSupport.get(fires)).isNull();
      assertThat(stopped).isNotDone();
      closeNow(closed);
      assertThat(interrupted).isCancelled();
      assertThat(stopped).isCancelled();
    }
  }

  // Regression: its thread ended, and whoever waited for the loop waited forever.
  @EveryBackend
  void aLoopThatFailsStopsWhatIsStarted(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    LoopOptions options = LoopOptions.DEFAULT.withBackend(backend).withSystemCalls(tap.sys());
    var escaped = new CompletableFuture<Throwable>();
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((_, e) -> escaped.complete(e));
    try (Quiet _ = Quiet.log(EventLoop.class);
        EventLoopGroup group = EventLoopGroup.open(1, options)) {
      tap.fail(WaitLog.call(backend), Errno.EBADF);
      group.start();
      EventLoop loop = group.next();
      assertThatExceptionOfType(StoppedException.class)
          .isThrownBy(() -> loop.scheduler().after(Duration.ofHours(1)).await());
      assertThat(LoopSupport.get(escaped)).hasMessageContaining("failed");
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }

  // Regression: it waited for itself.
  @EveryBackend
  void aGroupCannotBeClosedFromInside(Backend backend) throws Exception {
    try (EventLoopGroup group = group(backend, 2)) {
      group.start();
      var refused = new CompletableFuture<Void>();
      group
          .next()
          .scheduler()
          .execute(
              () -> {
                try {
                  closeNow(group);
                  refused.complete(TimerOperation.nothing());
                } catch (IllegalStateException e) {
                  refused.completeExceptionally(e);
                }
              });
      assertThat(refused)
          .failsWithin(PATIENCE)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(IllegalStateException.class);
    }
  }

  private static void closeNow(AutoCloseable closed) {
    try {
      closed.close();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @EveryBackend
  void aCallbackThatBlocksIsReportedOnceWithItsStack(Backend backend) throws Exception {
    try (EventLoopGroup group = group(backend, 1);
        Quiet log = Quiet.log(Watchdog.class)) {
      group.start();
      group.watch(Duration.ofMillis(30));
      assertThatIllegalStateException().isThrownBy(() -> group.watch(Duration.ofMillis(30)));
      for (int times = 1; times <= 2; times++) {
        blockUntilReported(group.next(), log);
        assertThat(reportsOf("blockHere", log))
            .hasSize(times)
            .allSatisfy(
                report ->
                    assertThat(report)
                        .contains("a callback", "belfry-loop-0", "EventLoopGroupTest"));
      }
    }
  }

  /** Blocks the loop until that is reported: on a busy machine other reports may come first. */
  private static void blockUntilReported(EventLoop loop, Quiet log) throws Exception {
    int before = reportsOf("blockHere", log).size();
    while (reportsOf("blockHere", log).size() == before) {
      int reports = log.messages().size();
      var goOn = new CountDownLatch(1);
      loop.scheduler().execute(() -> blockHere(goOn));
      LoopSupport.await(() -> log.messages().size() > reports);
      goOn.countDown();
      LoopSupport.get(loop.scheduler().schedule().toFuture());
    }
  }

  @EveryBackend
  void aCoroutineThatBlocksIsReportedByName(Backend backend) throws Exception {
    try (EventLoopGroup group = group(backend, 1);
        Quiet log = Quiet.log(Watchdog.class)) {
      group.start();
      group.watch(Duration.ofMillis(30));
      var busy = new boolean[] {true};
      EventLoop loop = group.next();
      var coroutine =
          loop.spawn(
              "greedy",
              () -> {
                while (reportsOf("greedy", log).isEmpty()) {
                  int reports = log.messages().size();
                  while (log.messages().size() == reports) {
                    spinHere(busy);
                  }
                  loop.sleep(Duration.ofMillis(1)); // lets the next turn begin
                }
              });
      LoopSupport.get(coroutine.result());
      assertThat(reportsOf("greedy", log))
          .anySatisfy(
              report ->
                  assertThat(report)
                      .contains("coroutine greedy", "belfry-loop-0", "EventLoopGroupTest"));
    }
  }

  /** The watchdog's reports about something. */
  private static List<String> reportsOf(String what, Quiet log) {
    return log.messages().stream().filter(message -> message.contains(what)).toList();
  }

  // Regression: the first check found a loop in its first turn and measured from time zero.
  @EveryBackend
  void aWatchedLoopThatIsBusyForAMomentIsNotReported(Backend backend) throws Exception {
    for (int i = 0; i < 5; i++) {
      try (EventLoopGroup group = group(backend, 1);
          Quiet log = Quiet.log(Watchdog.class)) {
        var watched = new CountDownLatch(1);
        var inside = new CountDownLatch(1);
        group
            .next()
            .scheduler()
            .execute(
                () -> {
                  inside.countDown();
                  blockHere(watched);
                });
        group.start();
        LoopSupport.await(inside);
        group.watch(Duration.ofSeconds(20));
        LoopSupport.await(() -> hasLooked(group));
        watched.countDown();
        LoopSupport.get(group.next().scheduler().schedule().toFuture());
        assertThat(log.messages()).isEmpty();
      }
    }
  }

  // Regression: an idle loop that polls before it sleeps was reported as blocked by a callback.
  @Test
  void aLoopThatPollsForALongTimeIsNotReported() throws Exception {
    LoopOptions polling = LoopOptions.DEFAULT.withBusyPoll(Duration.ofHours(1));
    try (EventLoopGroup group = EventLoopGroup.open(1, polling);
        Quiet log = Quiet.log(Watchdog.class)) {
      group.start();
      LoopSupport.get(group.next().scheduler().schedule().toFuture());
      group.watch(Duration.ofSeconds(1));
      long enough = System.nanoTime() + 1_500_000_000;
      LoopSupport.await(() -> System.nanoTime() - enough > 0);
      assertThat(log.messages()).isEmpty();
    }
  }

  // Regression: with a tiny threshold, the watchdog kept a processor busy.
  @Test
  void aThresholdIsAtLeastAMillisecond() throws IOException {
    try (EventLoopGroup group = EventLoopGroup.open(1, LoopOptions.DEFAULT)) {
      for (Duration tooShort :
          List.of(Duration.ZERO, Duration.ofMillis(-1), Duration.ofNanos(999_999))) {
        assertThatIllegalArgumentException().isThrownBy(() -> group.watch(tooShort));
      }
      group.watch(Duration.ofMillis(1));
    }
  }

  private static boolean hasLooked(EventLoopGroup group) {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(
            thread ->
                thread.getName().equals("belfry-watchdog")
                    && thread.getState() == Thread.State.TIMED_WAITING
                    && !group.loops().isEmpty());
  }

  private static void spinHere(boolean[] busy) {
    for (int i = 0; i < 1000 && busy[0]; i++) {
      Thread.onSpinWait();
    }
  }

  private static void blockHere(CountDownLatch until) {
    try {
      LoopSupport.await(until);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
