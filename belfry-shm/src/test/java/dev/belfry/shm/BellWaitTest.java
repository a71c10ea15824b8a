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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waiting at a bell for a peer that may or may not ring. */
@Timeout(60)
final class BellWaitTest {
  private static final long MILLISECOND = 1_000_000;

  /** What the looks between the sleeps find. */
  private static BellWait.Wait finding(Awaited... results) {
    Queue<Awaited> left = new ArrayDeque<>(List.of(results));
    return _ -> left.remove();
  }

  /**
   * A message that came between the end of a sleep and the next had been rung for, but was found
   * before the ring was heard: from then on the guest woke a thousand times a second, for good.
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
              : OptionalLong.of(0); // only the second is rung for
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
}
