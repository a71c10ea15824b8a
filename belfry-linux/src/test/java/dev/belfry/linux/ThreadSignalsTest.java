package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class ThreadSignalsTest {
  /** The JVM cuts long names, and the halves of a letter kept everybody from attaching signals. */
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
    begun.await(); // a thread names itself, and is there before it has a name
    try {
      assertThat(ThreadSignals.ofThisProcess()).anyMatch(it -> it.name().startsWith("äää"));
    } finally {
      over.countDown();
      named.join();
    }
  }
}
