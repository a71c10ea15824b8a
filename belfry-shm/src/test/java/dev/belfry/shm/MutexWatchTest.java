package dev.belfry.shm;

import static java.nio.channels.FileChannel.MapMode.READ_WRITE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Errno;
import dev.belfry.linux.RobustMutex;
import dev.belfry.linux.Sys;
import dev.belfry.loop.Backend;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.LoopOptions;
import dev.belfry.loop.TimerOperation;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The mutex as the only witness. To the kernel, a thread that ends while holding it is like a dead
 * process.
 */
final class MutexWatchTest {
  private static final Sys SYS = Sys.forAnyThread();

  private final RobustMutex mutex =
      new RobustMutex(SYS, Arena.ofAuto().allocate(RobustMutex.bytes(), Long.BYTES));
  private final List<Thread> told = new CopyOnWriteArrayList<>();

  @BeforeEach
  void makeMutex() throws IOException {
    mutex.initialise();
  }

  /** Each backend, and epoll where there is no io_uring. */
  static Stream<LoopOptions> loops() {
    SysTap tap = SysTap.over(SYS);
    tap.fail("ioUringSetup", Errno.EPERM);
    return Stream.concat(
        Stream.of(Backend.values()).map(LoopOptions.DEFAULT::withBackend),
        Stream.of(LoopOptions.DEFAULT.withBackend(Backend.EPOLL).withSystemCalls(tap.sys())));
  }

  private MutexWatch watch(RunningLoop loop) throws Exception {
    return loop.call(() -> watch(loop, mutex));
  }

  private MutexWatch watch(RunningLoop loop, RobustMutex watched) {
    return new MutexWatch(loop.loop(), watched, () -> true, () -> told.add(Thread.currentThread()));
  }

  /** Holds the mutex on a thread of its own. */
  private final class Owner {
    private final CountDownLatch holds = new CountDownLatch(1);
    private final CountDownLatch enough = new CountDownLatch(1);
    private final Thread thread;

    Owner(boolean unlocks) throws InterruptedException {
      thread =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      mutex.lock();
                      holds.countDown();
                      enough.await();
                      if (unlocks) {
                        mutex.unlock();
                      }
                    } catch (IOException | InterruptedException e) {
                      throw new AssertionError(e);
                    }
                  });
      assertThat(holds.await(30, TimeUnit.SECONDS)).isTrue();
    }

    void end() throws InterruptedException {
      enough.countDown();
      thread.join();
    }
  }

  private boolean isWatched() {
    return (mutex.word().get(ValueLayout.JAVA_INT, 0) & RobustMutex.WAITERS) != 0;
  }

  // r[verify shm.death.detection-methods]
  @ParameterizedTest
  @MethodSource("loops")
  void theOwnersDeathIsToldOnceOnTheLoop(LoopOptions options) throws Exception {
    try (RunningLoop loop = RunningLoop.start(options)) {
      var owner = new Owner(false);
      MutexWatch watch = watch(loop);
      await().until(this::isWatched);
      assertThat(told).isEmpty();
      owner.end();
      await().until(() -> !told.isEmpty());
      watch.end();
      loop.call(() -> 0);
      assertThat(told).containsExactly(loop.thread());
    }
  }

  @ParameterizedTest
  @MethodSource("loops")
  void aMutexThatIsLockedLaterIsWatchedToo(LoopOptions options) throws Exception {
    try (RunningLoop loop = RunningLoop.start(options)) {
      watch(loop);
      var first = new Owner(true);
      await().until(this::isWatched);
      first.end();
      var second = new Owner(false);
      await().until(this::isWatched);
      assertThat(told).isEmpty();
      second.end();
      await().until(() -> !told.isEmpty());
    }
  }

  @ParameterizedTest
  @MethodSource("loops")
  void anOwnerThatIsDeadAlreadyIsToldAfterTheCallerIsDone(LoopOptions options) throws Exception {
    new Owner(false).end();
    try (RunningLoop loop = RunningLoop.start(options)) {
      boolean toldAtOnce =
          loop.call(
              () -> {
                watch(loop, mutex);
                return !told.isEmpty();
              });
      assertThat(toldAtOnce).isFalse();
      await().until(() -> !told.isEmpty());
    }
  }

  @ParameterizedTest
  @MethodSource("loops")
  void aWatchThatHasEndedTellsNothing(LoopOptions options) throws Exception {
    try (RunningLoop loop = RunningLoop.start(options)) {
      var owner = new Owner(false);
      MutexWatch watch = watch(loop);
      await().until(this::isWatched);
      watch.end();
      owner.end();
    }
    assertThat(told).isEmpty();
  }

  /** The JVM's raw error used to escape into the loop, which logged it. */
  // r[verify shm.file.attach]
  @ParameterizedTest
  @MethodSource("loops")
  void aMutexWhoseMemoryIsCutAwayIsWatchedNoMore(LoopOptions options, @TempDir Path directory)
      throws Exception {
    Logger logger = Logger.getLogger(EventLoop.class.getName());
    var logged = new CopyOnWriteArrayList<String>();
    logger.setFilter(entry -> logged.add(String.valueOf(entry.getThrown())));
    try (RunningLoop loop = RunningLoop.start(options);
        FileChannel file = FileChannel.open(directory.resolve("file"), CREATE_NEW, READ, WRITE)) {
      var cut = new RobustMutex(SYS, file.map(READ_WRITE, 0, RobustMutex.bytes(), Arena.ofAuto()));
      cut.initialise();
      loop.call(() -> watch(loop, cut));
      TimerOperation someLooks = loop.loop().scheduler().after(Duration.ofMillis(100));
      someLooks.toFuture().get(30, TimeUnit.SECONDS);
      file.truncate(0);
      someLooks.after(Duration.ofMillis(100)).toFuture().get(30, TimeUnit.SECONDS);
    } finally {
      logger.setFilter(null);
    }
    assertThat(logged).isEmpty();
    assertThat(told).isEmpty();
  }
}
