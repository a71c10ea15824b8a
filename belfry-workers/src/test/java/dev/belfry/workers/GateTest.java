package dev.belfry.workers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class GateTest {
  /** Longer than a test may take: a caller that passes was let through. */
  private static final Duration LONG = Duration.ofHours(1);

  private final Gate gate = new Gate();

  private boolean passes(Duration limit) throws InterruptedException {
    return gate.await(System.nanoTime() + limit.toNanos());
  }

  /** A waiting caller; its future tells whether it was let through. */
  private Future<Boolean> caller() {
    var caller =
        new FutureTask<>(
            () -> {
              gate.enter();
              try {
                return passes(LONG);
              } finally {
                gate.leave();
              }
            });
    Thread.ofPlatform().daemon().start(caller);
    return caller;
  }

  private List<Future<Boolean>> callers(int count) {
    var callers = new ArrayList<Future<Boolean>>();
    for (int i = 0; i < count; i++) {
      callers.add(caller());
    }
    Awaitility.await().until(() -> gate.waiting() == count);
    return callers;
  }

  @Test
  void roomThatCameWhileNobodyWaitedIsForNobody() throws Exception {
    gate.roomForOne();
    gate.enter();
    assertThat(passes(Duration.ofMillis(1))).isFalse();
  }

  @Test
  void roomThatComesBetweenTheLookAndTheWaitIsNotLost() throws Exception {
    gate.enter(); // then the caller looks for room and finds none
    gate.roomForOne();
    assertThat(passes(LONG)).isTrue();
  }

  @Test
  void roomForOneLetsOneThrough() throws Exception {
    List<Future<Boolean>> callers = callers(3);
    for (int left = 2; left >= 0; left--) {
      gate.roomForOne();
      int waiting = left;
      Awaitility.await().until(() -> gate.waiting() == waiting);
      assertThat(callers.stream().filter(Future::isDone).count()).isLessThanOrEqualTo(3 - left);
    }
    for (Future<Boolean> caller : callers) {
      assertThat(caller.get()).isTrue();
    }
  }

  @Test
  void aChangeLetsAllThrough() throws Exception {
    List<Future<Boolean>> callers = callers(3);
    gate.changedForAll();
    for (Future<Boolean> caller : callers) {
      assertThat(caller.get()).isTrue();
    }
  }

  @Test
  void whatIsMeantForThoseWhoLeaveIsNotKeptForThoseWhoComeLater() throws Exception {
    gate.enter();
    gate.enter();
    gate.roomForOne();
    gate.roomForOne();
    gate.leave();
    assertThat(passes(LONG)).as("there is still room for the other").isTrue();
    gate.leave();
    gate.enter();
    assertThat(passes(Duration.ofMillis(1))).isFalse();
  }

  @Test
  void waitingEndsByAnInterrupt() throws Exception {
    gate.enter();
    Thread.currentThread().interrupt();
    assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> passes(LONG));
  }
}
