package dev.belfry.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How memory is shared between requests. */
@Timeout(60)
final class MemoryTest {
  /** A request for too much used to leave others with nothing until it was rejected. */
  @Test
  void whoWantsTooMuchTakesNothingFromOthers() throws Exception {
    var memory = new Memory(1000);
    var over = new AtomicBoolean();
    var begun = new CountDownLatch(1);
    long all = Long.MAX_VALUE / 2;
    Thread greedy =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (!over.get()) {
                    assertThat(memory.tryTake(all)).isFalse();
                    begun.countDown();
                  }
                });
    begun.await();
    int refused = 0;
    for (int i = 0; i < 1_000_000; i++) {
      if (memory.tryTake(1)) {
        memory.giveBack(1);
      } else {
        refused++;
      }
    }
    over.set(true);
    greedy.join();
    assertThat(refused).isZero();
  }
}
