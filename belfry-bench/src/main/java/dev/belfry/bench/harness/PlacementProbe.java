package dev.belfry.bench.harness;

import dev.belfry.linux.Affinity;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sys;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures how far apart the first two processors are: two threads, one on each, bounce a cache
 * line. The hypervisor may move virtual processors at any time, which changes the cost of
 * communication between two processes severalfold.
 */
public final class PlacementProbe {
  private static final int BURSTS = 8;
  private static final int WARM_UPS = 20;
  private static final int ROUND_TRIPS = 1000;

  /** A burst that takes this long was disturbed; no cache line is that slow. */
  private static final long GIVE_UP_NANOS = 50_000_000;

  private static final int LOOKS_AT_CLOCK = 1 << 14;

  /** Counts the bounces: even when it is the first thread's turn; {@link #OVER} at the end. */
  private final AtomicInteger ball = new AtomicInteger();

  private static final int OVER = -1;

  private final int first;
  private final int second;

  private PlacementProbe(int first, int second) {
    this.first = first;
    this.second = second;
  }

  /** Measures now; takes a few milliseconds. */
  public static Placement look() {
    try {
      BitSet processors = Affinity.get(Sys.forAnyThread(), Affinity.THIS_THREAD);
      int first = processors.nextSetBit(0);
      int second = first < 0 ? -1 : processors.nextSetBit(first + 1);
      return second < 0 ? Placement.UNKNOWN : new PlacementProbe(first, second).run();
    } catch (ErrnoException notAllowed) {
      return Placement.UNKNOWN;
    }
  }

  /** Gets the probe compiled: interpreted, it would find the processors far apart. */
  public static void warmUp() {
    for (int i = 0; i < WARM_UPS; i++) {
      look();
    }
  }

  private Placement run() {
    double[] best = {Double.MAX_VALUE};
    Thread answering = Thread.ofPlatform().daemon().unstarted(this::answer);
    Thread asking = Thread.ofPlatform().daemon().unstarted(() -> best[0] = ask());
    answering.start();
    asking.start();
    try {
      asking.join();
      ball.set(OVER);
      answering.join();
    } catch (InterruptedException e) {
      ball.set(OVER);
      Thread.currentThread().interrupt();
    }
    return best[0] == Double.MAX_VALUE ? Placement.UNKNOWN : Placement.of(best[0]);
  }

  private double ask() {
    double best = Double.MAX_VALUE;
    if (!stayOn(first)) {
      return best;
    }
    for (int burst = 0; burst < BURSTS; burst++) {
      long began = System.nanoTime();
      for (int i = 0; i < ROUND_TRIPS; i++) {
        int mine = ball.incrementAndGet();
        int spins = 0;
        while (ball.getAcquire() == mine) { // no spin hint: it would cost more than the trip
          if (++spins % LOOKS_AT_CLOCK == 0 && System.nanoTime() - began > GIVE_UP_NANOS) {
            return best;
          }
        }
      }
      best = Math.min(best, (double) (System.nanoTime() - began) / ROUND_TRIPS);
    }
    return best;
  }

  private void answer() {
    if (!stayOn(second)) {
      return;
    }
    while (true) {
      int seen = ball.getAcquire();
      if (seen == OVER) {
        return;
      }
      if ((seen & 1) == 1) {
        ball.compareAndSet(seen, seen + 1); // fails only when it is over
      }
    }
  }

  private static boolean stayOn(int processor) {
    try {
      Pinning.stayOn(processor);
      return true;
    } catch (ErrnoException notAllowed) {
      return false;
    }
  }
}
