package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.TestProcess;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A loop as the carrier of virtual threads, and where it cannot be one. */
final class LoopCarrierTest {
  @Test
  void thisVirtualMachineLetsLoopsScheduleVirtualThreads() {
    assertThat(LoopCarrier.unavailabilityCause()).isEmpty();
  }

  @EveryBackend
  @SuppressWarnings("ThreadPriorityCheck") // a yield gives up the loop thread
  void threadsThatACoroutineStartsRunOnTheLoopToo(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      var child = new CompletableFuture<Thread>();
      Coroutine<Void> parent =
          driven
              .loop()
              .spawn(
                  "parent",
                  () -> {
                    try {
                      Thread.startVirtualThread(
                              () -> {
                                Thread.yield();
                                child.complete(LoopCarrier.currentCarrier());
                              })
                          .join();
                    } catch (InterruptedException e) {
                      throw new AssertionError(e);
                    }
                  });
      LoopSupport.get(parent.result());
      assertThat(LoopSupport.get(child)).isEqualTo(driven.thread());
    }
  }

  // Regression: they were never resumed, and code that tried to resume them got an exception.
  @EveryBackend
  void threadsThatACoroutineStartedGoOnWhenTheLoopHasEnded(Backend backend) throws Exception {
    var gate = new CountDownLatch(1);
    Thread child;
    try (Driven driven = Driven.open(backend)) {
      Coroutine<Thread> parent =
          driven
              .loop()
              .spawn(
                  "parent",
                  () ->
                      Thread.startVirtualThread(
                          () -> {
                            try {
                              gate.await();
                            } catch (InterruptedException e) {
                              throw new AssertionError(e);
                            }
                          }));
      child = LoopSupport.get(parent.result());
      LoopSupport.await(() -> child.getState() == Thread.State.WAITING);
    }
    gate.countDown();
    LoopSupport.join(child);
  }

  // Regression: the JDK starts its socket pollers on the scheduler of the first virtual thread that
  // needs them. Once the loop of that thread had ended, no virtual thread got an answer.
  @Test
  void virtualThreadsGetTheirAnswersWhenTheLoopHasEnded() throws Exception {
    var command = new ArrayList<>(TestProcess.javaCommand(SocketsAfterTheLoop.class));
    command.add(1, "--add-opens=java.base/java.lang=ALL-UNNAMED");
    try (TestProcess child = TestProcess.start(command)) {
      assertThat(child.line("coroutine ")).isEqualTo("65");
      assertThat(child.line("thread ")).isEqualTo("66");
      assertThat(child.exitCode()).isZero();
    }
  }

  /** Reads from JDK sockets in a coroutine, and afterwards in a virtual thread. */
  static final class SocketsAfterTheLoop {
    private SocketsAfterTheLoop() {}

    public static void main(String[] arguments) throws Exception {
      try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
          var client = new Socket(listener.getInetAddress(), listener.getLocalPort());
          Socket server = listener.accept()) {
        try (Driven driven = Driven.open(Backend.EPOLL)) {
          Coroutine<Integer> reader =
              driven.loop().spawn("reader", () -> client.getInputStream().read());
          LoopSupport.await(() -> reader.thread().getState() == Thread.State.WAITING);
          server.getOutputStream().write('A');
          System.out.println("coroutine " + LoopSupport.get(reader.result()));
        }
        var read = new FutureTask<>(() -> client.getInputStream().read());
        Thread reader = Thread.startVirtualThread(read);
        LoopSupport.await(() -> reader.getState() == Thread.State.WAITING);
        server.getOutputStream().write('B');
        System.out.println("thread " + read.get(30, TimeUnit.SECONDS));
      }
    }
  }

  @EveryBackend
  void withoutOpenInternalsCoroutinesResumeThroughTheLoop(Backend backend) throws Exception {
    try (TestProcess child = TestProcess.java(CoroutineChild.class, backend.name())) {
      assertThat(child.line("cause ")).contains("java.base/java.lang is not open");
      assertThat(child.line("sum ")).isEqualTo("1000");
      assertThat(child.line("refused ")).isEqualTo("loop group");
      assertThat(child.line("stopped ")).isEqualTo("20");
      assertThat(child.line("races ")).isEqualTo("500");
      child.endInput();
      assertThat(child.exitCode()).isZero();
    }
  }

  /** Runs in a JVM of its own, in which java.lang is not open. */
  static final class CoroutineChild {
    private CoroutineChild() {}

    /** The closes that a coroutine must not make, because they would wait for it. */
    private static String refusedCloses(EventLoop loop, Backend backend) throws Exception {
      try (EventLoopGroup group =
          EventLoopGroup.open(1, LoopOptions.DEFAULT.withBackend(backend))) {
        group.start();
        return refusal("loop", loop, loop) + " " + refusal("group", group.next(), group);
      }
    }

    private static String refusal(String name, EventLoop loop, AutoCloseable closed)
        throws Exception {
      Coroutine<String> coroutine =
          loop.spawn(
              "closing",
              () -> {
                try {
                  closed.close();
                  return "no " + name;
                } catch (IllegalStateException refused) {
                  return name;
                }
              });
      return LoopSupport.get(coroutine.result());
    }

    public static void main(String[] arguments) throws Exception {
      Backend backend = Backend.valueOf(arguments[0]);
      System.out.println("cause " + LoopCarrier.unavailabilityCause().orElse("none"));
      try (Driven driven = Driven.open(backend)) {
        EventLoop loop = driven.loop();
        Coroutine<Integer> sum =
            loop.spawn(
                "sum",
                () -> {
                  int rounds = 0;
                  for (int i = 0; i < 1_000; i++) {
                    loop.scheduler().schedule().await();
                    rounds++;
                  }
                  loop.sleep(Duration.ofMillis(1));
                  return rounds;
                });
        System.out.println("sum " + LoopSupport.get(sum.result()));
        System.out.println("refused " + refusedCloses(loop, backend));
        var stopped = new CountDownLatch(20);
        for (int i = 0; i < 20; i++) {
          loop.spawn(
              "sleeper",
              () -> {
                try {
                  loop.sleep(Duration.ofHours(1));
                } finally {
                  stopped.countDown();
                }
              });
        }
        loop.requestStop();
        driven.joined();
        LoopSupport.await(stopped);
        System.out.println("stopped " + (20 - stopped.getCount()));
      }
      int races = 0;
      for (; races < 500; races++) {
        try (Driven driven = Driven.open(backend)) {
          EventLoop loop = driven.loop();
          Coroutine<Void> sleeper = loop.spawn("racer", () -> loop.sleep(Duration.ofHours(1)));
          for (int spin = races % 256; spin > 0; spin--) {
            Thread.onSpinWait();
          }
          loop.requestStop();
          driven.joined();
          LoopSupport.await(sleeper.result()::isDone);
        }
      }
      System.out.println("races " + races);
    }
  }
}
