package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The thread that shows that a process is alive, and must not end before it. */
@Timeout(60)
final class LifelineTest {
  /** A guest that needs no attention. */
  private static class Quiet implements Lifeline.Hold {
    @Override
    public @Nullable Doorbell bell() {
      return null;
    }

    @Override
    public void begin() {}

    @Override
    public void end() {}

    @Override
    public long look() {
      return Deadlines.FOREVER;
    }

    @Override
    public void hungUp() {}
  }

  /** A fault on the memory of one guest, as the JVM reports it, used to end the thread for all. */
  @Test
  void theTroubleOfOneGuestIsNotThatOfTheOthers() throws Exception {
    Lifeline lifeline = Lifeline.get(Sys.forAnyThread());
    var faults = new CountDownLatch(2);
    var looks = new CountDownLatch(2);
    Lifeline.Hold faulty =
        new Quiet() {
          @Override
          public long look() {
            faults.countDown();
            throw new InternalError("on purpose");
          }
        };
    Lifeline.Hold watched =
        new Quiet() {
          @Override
          public long look() {
            looks.countDown();
            return Deadlines.FOREVER;
          }
        };
    lifeline.add(faulty);
    lifeline.add(watched);
    assertThat(faults.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(looks.await(30, TimeUnit.SECONDS)).isTrue();
    lifeline.remove(faulty);
    lifeline.remove(watched);
  }
}
