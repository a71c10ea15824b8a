package dev.belfry.signals.linux;

import dev.belfry.signals.ExitPort;
import dev.belfry.signals.Signal;
import dev.belfry.signals.SignalCatalog;
import dev.belfry.signals.Signals;
import dev.belfry.signals.SignalsTesting;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** A program whose own threads all end before the exit. */
final class LeavingService {
  private static final long A_MOMENT_NANOS = 1_000_000;

  private LeavingService() {}

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "stopped" -> stopped();
      case "next" -> next();
      case "closes" -> closes();
      case "closes-and-hangs" -> closesAndHangs(SampleService.catalog("hasty"));
      case "closes-and-hangs-for-long" -> closesAndHangs(SampleService.catalog("hanging"));
      case "nothing-ends" -> nothingEnds();
      case "closed-before" -> closedBefore();
      case "exit-returns" -> exitReturns();
      case "exit-throws" -> exitThrows();
      case "test-hangs" -> testHangs();
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  /** Like a server whose last thread ends when it is stopped. */
  private static void stopped() throws Exception {
    var stopped = new CountDownLatch(1);
    Signals signals = Signals.open();
    cleanUpWhenAllHaveLeft(signals);
    signals.onShutdown("server", stopped::countDown);
    System.out.println("ready");
    stopped.await();
  }

  private static void next() {
    Signals signals = Signals.open();
    cleanUpWhenAllHaveLeft(signals);
    CompletableFuture<Signal> next = signals.next("TERM", "INT");
    System.out.println("ready");
    next.join();
  }

  private static void closes() {
    try (Signals signals = Signals.open()) {
      cleanUpWhenAllHaveLeft(signals);
      CompletableFuture<Signal> next = signals.next("TERM", "INT");
      System.out.println("ready");
      next.join();
    }
  }

  private static void closesAndHangs(SignalCatalog catalog) {
    try (Signals signals = Signals.builder().catalog(catalog).open()) {
      signals.onShutdown("hanging", LeavingService::hang);
      CompletableFuture<Signal> next = signals.next("TERM", "INT");
      System.out.println("ready");
      next.join();
    }
    System.out.println("closed");
  }

  /** Without a shutdown, the program ends as if there were no signals. */
  private static void nothingEnds() {
    Signals signals = Signals.open();
    signals.onShutdown("not run", () -> System.out.println("cleanup"));
  }

  /** A shutdown requested after the signals were closed has no effect. */
  private static void closedBefore() {
    Signals signals = Signals.open();
    signals.close();
    signals.shutdown(signals.catalog().resolve("TERM").orElseThrow());
  }

  private static void exitReturns() {
    Signals signals = Signals.builder().exit(new Port(() -> {})).open();
    signals.shutdown(signals.catalog().resolve("TERM").orElseThrow());
  }

  private static void exitThrows() {
    Signals signals =
        Signals.builder()
            .exit(
                new Port(
                    () -> {
                      throw new SecurityException("no exit here");
                    }))
            .open();
    signals.shutdown(signals.catalog().resolve("TERM").orElseThrow());
  }

  /** A test's clock stands still, so no time limit ever ends the program. */
  private static void testHangs() throws Exception {
    try (SignalsTesting test = SignalsTesting.open()) {
      var hangs = new CountDownLatch(1);
      test.signals()
          .onShutdown(
              "hanging",
              () -> {
                hangs.countDown();
                hang();
              });
      var _ = test.injectAsync("TERM");
      hangs.await();
    }
  }

  private static void cleanUpWhenAllHaveLeft(Signals signals) {
    signals.onShutdown(
        "store",
        () -> {
          while (!allHaveLeft()) {
            LockSupport.parkNanos(A_MOMENT_NANOS);
          }
          System.out.println("store closed");
        });
  }

  /** After main the JVM gives the main thread this name, and it waits for all others. */
  private static boolean allHaveLeft() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("DestroyJavaVM"));
  }

  private static void hang() throws InterruptedException {
    new CountDownLatch(1).await();
  }

  private record Port(Runnable end) implements ExitPort {
    @Override
    public void exit(int code) {
      System.out.println("exit " + code);
      end.run();
    }

    @Override
    public void halt(int code) {
      System.out.println("halt " + code);
      end.run();
    }
  }
}
