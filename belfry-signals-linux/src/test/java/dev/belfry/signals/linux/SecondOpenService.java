package dev.belfry.signals.linux;

import dev.belfry.signals.Signals;
import java.util.ArrayList;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;

/** A program that opens its signals more than once. */
final class SecondOpenService {
  static final int ROUNDS = 50;
  private static final int THREADS = 4;

  private SecondOpenService() {}

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "second" -> second();
      case "after-close" -> afterClose();
      case "after-failure" -> afterFailure();
      case "race" -> race();
      default -> throw new IllegalArgumentException(args[0]);
    }
    System.out.println("ready");
    new CountDownLatch(1).await();
  }

  private static Signals open(String name) {
    Signals signals = Signals.open();
    signals.onShutdown(name, () -> System.out.println("closed " + name));
    return signals;
  }

  private static void second() {
    open("first");
    try {
      open("second");
    } catch (IllegalStateException e) {
      System.out.println("refused " + e.getMessage());
      e.printStackTrace();
    }
  }

  private static void afterClose() {
    Signals first = open("first");
    first.close();
    open("second");
    first.close(); // a second time, which must not release the claim of "second"
    try {
      open("third");
    } catch (IllegalStateException e) {
      System.out.println("refused " + e.getMessage());
    }
  }

  private static void afterFailure() {
    try {
      Signals.builder().handle("NOSUCH", _ -> {}).open();
    } catch (IllegalArgumentException e) {
      System.out.println("failed " + e.getMessage());
    }
    open("second");
  }

  /** In each round one thread gets the signals, and closes them once all have tried. */
  private static void race() throws InterruptedException {
    var opened = new AtomicInteger();
    for (int round = 0; round < ROUNDS; round++) {
      var tried = new CyclicBarrier(THREADS);
      var threads = new ArrayList<Thread>();
      for (int i = 0; i < THREADS; i++) {
        threads.add(Thread.ofPlatform().start(() -> tryToOpen(tried, opened)));
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    System.out.println("opened " + opened);
  }

  private static void tryToOpen(CyclicBarrier barrier, AtomicInteger opened) {
    try {
      barrier.await();
      Signals signals = null;
      try {
        signals = Signals.open();
        opened.incrementAndGet();
      } catch (IllegalStateException refused) {
        // Another thread has the signals.
      }
      barrier.await();
      if (signals != null) {
        signals.close();
      }
    } catch (InterruptedException | BrokenBarrierException e) {
      throw new AssertionError(e);
    }
  }
}
