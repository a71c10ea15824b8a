package dev.belfry.workers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.loop.EventLoopGroup;
import dev.belfry.loop.LoopCarrier;
import dev.belfry.loop.LoopOptions;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which callers may keep the thread they run on. */
@Timeout(60)
final class CarriersTest {
  static final int COUNT = Runtime.getRuntime().availableProcessors();

  @Test
  void oneCarrierIsLeft() throws Exception {
    try (ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int again = 0; again < 2; again++) {
        assertThat(virtual.submit(CarriersTest::keepAll).get()).isEqualTo(COUNT - 1);
      }
    }
  }

  /** How many carriers the calling virtual thread could keep; it keeps none. */
  static int keepAll() {
    int kept = 0;
    while (Carriers.tryKeep()) {
      kept++;
    }
    for (int i = 0; i < kept; i++) {
      Carriers.letGo();
    }
    return kept;
  }

  @Test
  void aPlatformThreadIsItsOwn() {
    for (int i = 0; i <= COUNT; i++) {
      assertThat(Carriers.tryKeep()).isTrue();
    }
  }

  @Test
  void aCoroutineLeavesItsLoopToOthers() throws Exception {
    assertThat(LoopCarrier.unavailabilityCause()).isEmpty();
    try (EventLoopGroup group = EventLoopGroup.open(1, LoopOptions.DEFAULT)) {
      group.start();
      assertThat(group.next().spawn("caller", Carriers::tryKeep).result().get()).isFalse();
    }
  }
}
