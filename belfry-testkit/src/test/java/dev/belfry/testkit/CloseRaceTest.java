package dev.belfry.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Fd;
import dev.belfry.linux.Sys;
import java.util.ArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Threads that close, release and query at the same moment. */
final class CloseRaceTest {
  private static final int ROUNDS = Boolean.getBoolean("belfry.stress") ? 200_000 : 2_000;
  private static final int EFD_CLOEXEC = 0x80000;

  @Test
  void howManyCloseItIsClosedOnce() throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    race(tap, fd -> fd.close(), fd -> fd.close());
    assertThat(tap.calls("close")).isEqualTo(ROUNDS);
  }

  @Test
  void whatIsReleasedWhileItIsClosedIsOneOrTheOther() throws Exception {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    var released = new AtomicInteger();
    race(
        tap,
        fd -> fd.close(),
        fd -> {
          try {
            tap.sys().close(fd.release());
            released.incrementAndGet();
          } catch (IllegalStateException closedBefore) {
            // The other thread was first.
          }
        });
    assertThat(tap.calls("close")).as("%s released", released).isEqualTo(ROUNDS);
  }

  private interface Step {
    void on(Fd fd);
  }

  private static void race(SysTap tap, Step one, Step other) throws Exception {
    var fds = new ArrayList<Fd>();
    Descriptors before = Descriptors.now();
    for (int done = 0; done < ROUNDS; done += fds.size()) {
      fds.clear();
      for (int i = 0; i < Math.min(500, ROUNDS - done); i++) {
        fds.add(Fd.own(tap.sys(), tap.sys().eventfd(0, EFD_CLOEXEC), "raced"));
      }
      var start = new CyclicBarrier(2);
      Thread rival =
          Thread.ofPlatform()
              .start(
                  () -> {
                    await(start);
                    fds.forEach(other::on);
                  });
      await(start);
      fds.forEach(one::on);
      rival.join();
    }
    assertThat(before.openedSince()).isEmpty();
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
