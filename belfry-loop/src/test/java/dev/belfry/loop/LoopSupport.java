package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shared by the tests of the loop. */
final class LoopSupport {
  /** How long anything may take on a busy machine before a test gives up. */
  static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Whether races run in their long version. */
  static final boolean STRESS = Boolean.getBoolean("belfry.stress");

  private static final long PAUSE_NANOS = 50_000;

  private LoopSupport() {}

  /**
   * A test that runs once for each backend, its first parameter. On a machine that lacks a backend
   * the test fails with the cause, because the backend cannot be opened.
   */
  @Target(ElementType.METHOD)
  @Retention(RetentionPolicy.RUNTIME)
  @ParameterizedTest(name = "{0}")
  @EnumSource(Backend.class)
  @interface EveryBackend {}

  /** A test of the use of epoll, which runs once for each epoll backend. */
  @Target(ElementType.METHOD)
  @Retention(RetentionPolicy.RUNTIME)
  @ParameterizedTest(name = "{0}")
  @EnumSource(
      value = Backend.class,
      names = {"EPOLL", "EPOLL_TIMERFD"})
  @interface EveryEpoll {}

  /** The number of rounds: the first in the normal build, the second under stress. */
  static int rounds(int normal, int stress) {
    return STRESS ? stress : normal;
  }

  /** A loop on this backend whose system calls go through the tap. */
  static EventLoop open(Backend backend, SysTap tap) throws IOException {
    return EventLoop.open(LoopOptions.DEFAULT.withBackend(backend).withSystemCalls(tap.sys()));
  }

  /** A tap on the kernel's calls. */
  static SysTap tap() {
    return SysTap.over(Sys.forAnyThread());
  }

  /** Drives a loop on this thread until a condition holds. */
  static void drive(EventLoop loop, BooleanSupplier until) throws IOException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!until.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).as("nanoseconds late").isNegative();
      loop.runSome(Duration.ofMillis(5));
    }
  }

  /** Waits on this thread, which drives nothing, until a condition holds. */
  static void await(BooleanSupplier until) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!until.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).as("nanoseconds late").isNegative();
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  /** Waits until a latch is open. */
  static void await(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).as("opened").isTrue();
  }

  /** Waits for a result; a failed future throws its cause. */
  static <T> T get(CompletableFuture<T> future)
      throws InterruptedException, ExecutionException, TimeoutException {
    return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  /** Waits for a thread to end; if it does not, the test fails with its stack trace. */
  static void join(Thread thread) throws InterruptedException {
    if (!thread.join(PATIENCE)) {
      var hangs = new AssertionError(thread + " does not end");
      hangs.setStackTrace(thread.getStackTrace());
      throw hangs;
    }
  }

  /** An action that only throws. */
  static Callable<Integer> failing(Exception failure) {
    return () -> {
      throw failure;
    };
  }

  /** A loop driven by a thread of its own; closing it stops, joins and closes the loop. */
  static final class Driven implements AutoCloseable {
    private final EventLoop loop;
    private final Thread thread;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();

    private Driven(EventLoop loop, RunMode mode, StopToken token) {
      this.loop = loop;
      this.thread =
          Thread.ofPlatform()
              .daemon()
              .name("driver")
              .start(
                  () -> {
                    try {
                      outcome.complete(loop.run(mode, token));
                    } catch (IOException | RuntimeException | Error e) {
                      outcome.completeExceptionally(e);
                    }
                  });
    }

    /** Opens and drives a loop. */
    static Driven open(Backend backend) throws IOException {
      return of(EventLoop.open(backend));
    }

    /** Drives a loop until it is stopped. */
    static Driven of(EventLoop loop) {
      return of(loop, RunMode.STOPPED, StopToken.NEVER);
    }

    /** Drives a loop in the given mode. */
    static Driven of(EventLoop loop, RunMode mode, StopToken token) {
      return new Driven(loop, mode, token);
    }

    EventLoop loop() {
      return loop;
    }

    Scheduler scheduler() {
      return loop.scheduler();
    }

    /** The driving thread. */
    Thread thread() {
      return thread;
    }

    /** The outcome of the run, once it has ended. */
    CompletableFuture<Outcome> outcome() {
      return outcome;
    }

    /** Waits until the loop has run a task and waits for the kernel, or is about to. */
    Driven asleep() {
      var ran = new AtomicBoolean();
      loop.scheduler().execute(() -> ran.set(true));
      await(() -> ran.get() && loop.metrics().isAsleep());
      return this;
    }

    /** Waits for the end of the run; a failed run throws its cause. */
    Outcome joined() throws InterruptedException, ExecutionException, TimeoutException {
      join(thread);
      return get(outcome);
    }

    @Override
    public void close() {
      loop.requestStop();
      try {
        join(thread);
      } catch (InterruptedException e) {
        throw new AssertionError("interrupted while closing", e);
      }
      loop.close();
    }
  }
}
