package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Waiting at a bell for a peer that may or may not ring. */
@Timeout(60)
final class BellWaitTest {
  private static final long MILLISECOND = 1_000_000;
  private static final long LATE = FutexWait.FOREVER;

  /** The results of the looks between sleeps. */
  private static BellWait.Wait finding(Awaited... results) {
    Queue<Awaited> left = new ArrayDeque<>(List.of(results));
    return _ -> left.remove();
  }

  /**
   * A message that arrived between two sleeps was found before its ring was heard. From then on the
   * guest used to wake up a thousand times a second.
   */
  @Test
  void whoIsRungForAgainSleepsLongAgain() throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    var sleeps = new ArrayList<Long>();
    Doorbell.Pair bells = Doorbell.pair(tap.sys());
    var wait = new BellWait(bells.guest());
    tap.script(
        "ppoll",
        (nth, arguments) -> {
          sleeps.add(((MemorySegment) arguments[2]).get(JAVA_LONG, 8));
          return nth == 2
              ? OptionalLong.empty()
              : OptionalLong.of(0); // only the second message is rung for
        });
    assertThat(wait.await(finding(Awaited.TIMEOUT, Awaited.READY), FutexWait.FOREVER))
        .isEqualTo(Awaited.READY);
    bells.host().ring();
    assertThat(wait.await(finding(Awaited.TIMEOUT, Awaited.READY), FutexWait.FOREVER))
        .isEqualTo(Awaited.READY);
    assertThat(wait.await(finding(Awaited.TIMEOUT, Awaited.OVER), FutexWait.FOREVER))
        .isEqualTo(Awaited.OVER);
    assertThat(sleeps.get(1)).as("while it seems not to ring").isLessThanOrEqualTo(MILLISECOND);
    assertThat(sleeps.get(2)).isGreaterThan(10 * MILLISECOND);
    bells.host().close();
    bells.guest().close();
  }

  /** No waiter polls: one that is not told what the other has heard waits for ever. */
  // r[verify shm.doorbell.purpose]
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whoWaitsForDataAndWhoWaitsForSpaceShareABell(boolean dataReads) throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    Doorbell.Pair bells = Doorbell.pair(tap.sys());
    try (Sides sides = Sides.of(Placement.V1, Sides.CONFIG)) {
      int peer = sides.host.peers().reserve();
      Link guest = Link.claim(sides.guest, peer, WaitStrategy.SLEEP, bells.guest());
      Link host = Link.toGuest(sides.host, peer, WaitStrategy.SLEEP, bells.host(), false);
      while (Sides.send(guest, 1, new byte[1]) == SendResult.SENT) {}
      bells.host().poll();
      var wait = new BellWait(bells.guest(), Sleeper.NEVER_NANOS);
      var data =
          new FutureTask<>(() -> new Receiving(guest, wait).receiveBlocking(new Message(), LATE));
      var space =
          new FutureTask<>(
              () ->
                  new Sending(guest, wait)
                      .sendBlocking(MessageKind.REQUEST, 2, 0, new byte[1], 0, 1, LATE));
      long polls = tap.calls("poll"); // a call that may block
      Thread.ofPlatform().daemon().start(dataReads ? data : space);
      await(() -> tap.calls("poll") > polls);
      Thread second = Thread.ofPlatform().daemon().start(dataReads ? space : data);
      await(() -> second.getState() == Thread.State.TIMED_WAITING); // for what the first hears
      // The first wakes up to nothing; then its event happens, too.
      for (boolean forData : new boolean[] {!dataReads, dataReads}) {
        assertThat((forData ? data : space).isDone()).isFalse();
        if (forData) {
          assertThat(Sides.send(host, 3, new byte[1])).isEqualTo(SendResult.SENT);
          assertThat(data.get(30, TimeUnit.SECONDS)).isEqualTo(Awaited.READY);
        } else {
          assertThat(host.inbox().receive(new Message())).isTrue();
          assertThat(space.get(30, TimeUnit.SECONDS)).isEqualTo(SendResult.SENT);
        }
      }
    } finally {
      bells.host().close();
      bells.guest().close();
    }
  }

  private static void await(BooleanSupplier condition) {
    long deadline = Sides.inMillis(30_000);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).isNegative();
      Thread.onSpinWait();
    }
  }
}
