package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class ThreadSignalsTest {
  /** Regression: the JVM cuts long names, and half a character made attaching signals fail. */
  @Test
  void aNameThatIsCutInTheMiddleOfALetterIsReadAllTheSame() throws Exception {
    var begun = new CountDownLatch(1);
    var over = new CountDownLatch(1);
    Thread named =
        Thread.ofPlatform()
            .name("ääääääääääää")
            .start(
                () -> {
                  begun.countDown();
                  try {
                    over.await();
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });
    begun.await(); // a thread exists before it has set its own name
    try {
      assertThat(ThreadSignals.ofThisProcess()).anyMatch(it -> it.name().startsWith("äää"));
    } finally {
      over.countDown();
      named.join();
    }
  }
}
