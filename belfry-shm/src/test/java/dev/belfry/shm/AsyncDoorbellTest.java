package dev.belfry.shm;

import static dev.belfry.shm.Doorbell.Event.DEATH;
import static dev.belfry.shm.Doorbell.Event.SIGNAL;
import static dev.belfry.shm.Doorbell.Event.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Sys;
import dev.belfry.loop.Backend;
import dev.belfry.loop.Coroutine;
import dev.belfry.testkit.Descriptors;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A doorbell that a loop listens to. */
@Timeout(60)
@ParameterizedClass
@EnumSource(Backend.class)
final class AsyncDoorbellTest {
  private final Descriptors before = Descriptors.now();
  private final Backend backend;
  private RunningLoop loop;
  private Doorbell.Pair bells;

  AsyncDoorbellTest(Backend backend) {
    this.backend = backend;
  }

  @BeforeEach
  void open() throws Exception {
    loop = RunningLoop.start(backend);
    bells = Doorbell.pair(Sys.forAnyThread());
  }

  @AfterEach
  void close() throws Exception {
    bells.guest().close();
    loop.close();
    assertThat(before.openedSince()).isEmpty();
  }

  @Test
  void theListenerHearsOnTheLoopThread() throws Exception {
    BlockingQueue<Doorbell.Event> heard = new LinkedBlockingQueue<>();
    BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
    try (AsyncDoorbell bell =
        AsyncDoorbell.on(
            loop.loop(),
            bells.host(),
            event -> {
              heard.add(event);
              threads.add(Thread.currentThread());
            })) {
      bells.guest().ring();
      assertThat(heard.poll(30, TimeUnit.SECONDS)).isEqualTo(SIGNAL);
      bells.guest().ring();
      assertThat(heard.poll(30, TimeUnit.SECONDS)).isEqualTo(SIGNAL);
      assertThat(bell.ring()).isEqualTo(Doorbell.Rung.SENT);
      assertThat(bells.guest().await()).isEqualTo(SIGNAL);
      bells.guest().ring();
      bells.guest().close();
      assertThat(heard.poll(30, TimeUnit.SECONDS)).isEqualTo(SIGNAL);
      assertThat(heard.poll(30, TimeUnit.SECONDS)).isEqualTo(DEATH);
      assertThat(threads).containsOnly(loop.thread());
    }
  }

  /** The loop used to stop reading the bell after an exception. */
  @Test
  void aListenerThatThrowsHearsTheNextRing() throws Exception {
    BlockingQueue<Doorbell.Event> heard = new LinkedBlockingQueue<>();
    try (AsyncDoorbell _ =
        AsyncDoorbell.on(
            loop.loop(),
            bells.host(),
            event -> {
              heard.add(event);
              throw new AssertionError("on purpose");
            })) {
      for (int i = 0; i < 3; i++) {
        bells.guest().ring();
        assertThat(heard.poll(30, TimeUnit.SECONDS)).isEqualTo(SIGNAL);
      }
    }
  }

  @Test
  void aRingIsKeptForTheFirstWhoWaits() throws Exception {
    try (AsyncDoorbell bell = AsyncDoorbell.on(loop.loop(), bells.host())) {
      bells.guest().ring();
      assertThat(bell.await()).isEqualTo(SIGNAL);
      assertThat(bell.await(Duration.ofMillis(10))).isEqualTo(TIMEOUT);
      bells.guest().close();
      assertThat(bell.await()).isEqualTo(DEATH);
      assertThat(bell.await()).isEqualTo(DEATH);
    }
  }

  /** The ring used to go to waiters that had already given up. */
  @Test
  void aRingAfterSomebodyHasGivenUpWaitingIsKeptToo() throws Exception {
    try (AsyncDoorbell bell = AsyncDoorbell.on(loop.loop(), bells.host())) {
      assertThat(bell.await(Duration.ofMillis(10))).isEqualTo(TIMEOUT);
      bells.guest().ring();
      awaitReading();
      assertThat(bell.await(Duration.ofSeconds(30))).isEqualTo(SIGNAL);

      Thread.currentThread().interrupt();
      assertThatThrownBy(bell::await).isInstanceOf(CancellationException.class);
      assertThat(Thread.interrupted()).isTrue();
      bells.guest().ring();
      awaitReading();
      assertThat(bell.await(Duration.ofSeconds(30))).isEqualTo(SIGNAL);
    }
  }

  /** Waits until the loop has heard an earlier ring. */
  private void awaitReading() throws Exception {
    Doorbell.Pair later = Doorbell.pair(Sys.forAnyThread());
    try (AsyncDoorbell bell = AsyncDoorbell.on(loop.loop(), later.host())) {
      later.guest().ring();
      bell.await();
      loop.call(() -> true);
    } finally {
      later.guest().close();
    }
  }

  @Test
  void twoCoroutinesHearTheSameRing() throws Exception {
    try (AsyncDoorbell bell = AsyncDoorbell.on(loop.loop(), bells.host())) {
      var waiting = new CountDownLatch(2);
      List<Coroutine<Doorbell.Event>> coroutines =
          List.of(coroutine(bell, waiting), coroutine(bell, waiting));
      waiting.await();
      loop.call(() -> true); // both are asleep by the time the loop gets to this
      bells.guest().ring();
      for (Coroutine<Doorbell.Event> coroutine : coroutines) {
        assertThat(coroutine.result().get(30, TimeUnit.SECONDS)).isEqualTo(SIGNAL);
      }
    }
  }

  private Coroutine<Doorbell.Event> coroutine(AsyncDoorbell bell, CountDownLatch waiting) {
    return loop.loop()
        .spawn(
            "waits",
            () -> {
              waiting.countDown();
              return bell.await();
            });
  }

  @Test
  void closingCancelsWhoWaits() throws Exception {
    AsyncDoorbell bell = AsyncDoorbell.on(loop.loop(), bells.host());
    var waiting = new CountDownLatch(1);
    Coroutine<Doorbell.Event> coroutine = coroutine(bell, waiting);
    waiting.await();
    loop.call(() -> true);
    bell.close();
    assertThatThrownBy(() -> coroutine.result().get(30, TimeUnit.SECONDS))
        .isInstanceOfAny(CancellationException.class, java.util.concurrent.ExecutionException.class)
        .satisfies(e -> assertThat(e.toString()).contains("Cancellation"));
    assertThatThrownBy(bell::await).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(bell::ring).isInstanceOf(IllegalStateException.class);
    assertThat(bells.guest().await()).isEqualTo(DEATH);
  }

  /** A waiter with a limit used to get an error, as if the doorbell had failed. */
  @Test
  void stoppingTheLoopCancelsWhoWaitsForSoLongAtMost() throws Exception {
    try (AsyncDoorbell bell = AsyncDoorbell.on(loop.loop(), bells.host())) {
      var wait = new FutureTask<>(() -> bell.await(Duration.ofDays(1)));
      Thread waiting = Thread.ofPlatform().start(wait);
      while (waiting.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
      loop.close();
      assertThatThrownBy(() -> wait.get(30, TimeUnit.SECONDS))
          .hasCauseInstanceOf(CancellationException.class);
    }
  }

  /** A waiter that came after the stop used to wait for ever, or to time out at once. */
  @Test
  void whoWaitsAfterTheLoopWasStoppedIsCancelled() throws Exception {
    try (AsyncDoorbell bell = AsyncDoorbell.on(loop.loop(), bells.host())) {
      loop.call(() -> true); // the loop runs
      loop.close();
      assertThatThrownBy(bell::await).isInstanceOf(CancellationException.class);
      assertThatThrownBy(() -> bell.await(Duration.ofDays(1)))
          .isInstanceOf(CancellationException.class);
    }
  }

  @Test
  void waitingOnTheLoopThreadItselfIsRefused() throws Exception {
    try (AsyncDoorbell bell = AsyncDoorbell.on(loop.loop(), bells.host())) {
      assertThatThrownBy(() -> loop.call(bell::await))
          .hasRootCauseInstanceOf(IllegalStateException.class);
    }
  }
}
