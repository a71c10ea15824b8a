package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
import static dev.belfry.workers.Pools.call;
import static dev.belfry.workers.Pools.open;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Calls whose payload is too much for any worker, so that it dies before it has all of it. They
 * could kill more workers than their attempts, until their deadline.
 */
@Timeout(120)
final class HeavyCallTest extends QuickWorkers {
  private static final byte[] PAYLOAD = new byte[32 << 20];

  private WorkerPool openWithLittleMemory() throws Exception {
    return open(
        after("ulimit -d 16384")
            .attempts(2)
            .crashLimit(1000)
            .restartDelay(Duration.ofMillis(1), Duration.ofMillis(1)));
  }

  @Test
  void afterSoManyWorkersSuchACallIsADeadLetter() throws Exception {
    try (WorkerPool pool = openWithLittleMemory()) {
      assertThatExceptionOfType(DeadLetter.class)
          .isThrownBy(() -> pool.call("echo", PAYLOAD, CallOptions.DEFAULT.withDeadline(LONG)))
          .satisfies(letter -> assertThat(letter.attempts()).isEqualTo(2))
          .satisfies(
              letter -> assertThat(letter.death().errorTail()).contains("no memory for a call"));
      assertThat(call(pool, "upper", "others go on")).isEqualTo("OTHERS GO ON");
      assertThat(told.deaths).hasSize(2);
    }
  }

  @Test
  void afterSoManyWorkersItFailsWithTheLastIfItMustNotBeDoneTwice() throws Exception {
    CallOptions once = CallOptions.DEFAULT.withDelivery(Delivery.AT_MOST_ONCE).withDeadline(LONG);
    try (WorkerPool pool = openWithLittleMemory()) {
      assertThatExceptionOfType(WorkerDied.class)
          .isThrownBy(() -> pool.call("echo", PAYLOAD, once));
      assertThat(call(pool, "upper", "others go on")).isEqualTo("OTHERS GO ON");
      assertThat(told.deaths).hasSizeBetween(1, 2);
    }
  }
}
