package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.start;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Futex;
import dev.belfry.linux.Sys;
import dev.belfry.loop.DescriptorSupport.Probe;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.NeedsIoUring;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A loop waits for words of memory as it waits for descriptors. */
final class FutexWaitTest {
  private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();
  private static final Sys SYS = Sys.forAnyThread();

  private final Arena arena = Arena.ofAuto();

  private MemorySegment word() {
    return arena.allocate(ValueLayout.JAVA_INT);
  }

  private static void change(MemorySegment word) {
    WORD.getAndAdd(word, 0L, 1);
    Futex.wake(SYS, word, Integer.MAX_VALUE);
  }

  @EveryBackend
  void aWordThatHasAnotherValueIsNotWaitedFor(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      FutexOperation wait = loop.futex(word(), 1);
      result(loop, wait);
      result(loop, wait.expecting(-1));
    }
  }

  // Regression: a thread already waiting for the word took the new value as the expected one.
  @EveryBackend
  void aWaitInFlightKeepsItsValue(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      FutexOperation wait = loop.futex(word(), 0);
      Probe<Void> waiting = start(wait);
      loop.runUntilEmpty();
      assertThatIllegalStateException()
          .isThrownBy(() -> wait.expecting(1))
          .withMessageContaining("has not completed yet");
      wait.cancel();
      drive(loop, waiting::done);
      result(loop, wait.expecting(1));
    }
  }

  // Regression: a word in an array was waited for at address zero.
  @EveryBackend
  void whatIsNoWordForTheKernelIsRefused(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      for (MemorySegment none :
          List.of(
              arena.allocate(8).asSlice(1), arena.allocate(2), MemorySegment.ofArray(new int[1]))) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> loop.futex(none, 0))
            .withMessageContaining("native");
      }
    }
  }

  // Regression: it worked, unless a thread had to wait for the word.
  @EveryBackend
  void aWordThatOnlyOneThreadCanReachIsRefused(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend);
        Arena own = Arena.ofConfined()) {
      MemorySegment word = own.allocate(ValueLayout.JAVA_INT);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> loop.futex(word, 0))
          .withMessageContaining("Arena.ofShared()");
    }
  }

  @EveryBackend
  void aCoroutineWaitsUntilTheWordChanges(Backend backend) throws Exception {
    aCoroutineWaitsUntilTheWordChanges(EventLoop.open(backend));
  }

  private void aCoroutineWaitsUntilTheWordChanges(EventLoop loop) throws Exception {
    try (Driven driven = Driven.of(loop)) {
      MemorySegment word = word();
      Coroutine<Integer> counting =
          loop.spawn(
              "counting",
              () -> {
                int seen = 0;
                FutexOperation wait = loop.futex(word, 0);
                while (seen < 100) {
                  wait.expecting(seen).await();
                  seen = (int) WORD.getVolatile(word, 0L);
                }
                return seen;
              });
      for (int i = 0; i < 100; i++) {
        if (i % 10 == 0) {
          driven.asleep();
        }
        change(word);
      }
      assertThat(LoopSupport.get(counting.result())).isEqualTo(100);
    }
  }

  @EveryBackend
  void manyWordsAreWaitedForAtOnce(Backend backend) throws IOException {
    manyWordsAreWaitedForAtOnce(EventLoop.open(backend));
  }

  private void manyWordsAreWaitedForAtOnce(EventLoop opened) throws IOException {
    var words = new ArrayList<MemorySegment>();
    var probes = new ArrayList<Probe<Void>>();
    try (EventLoop loop = opened) {
      for (int i = 0; i < 300; i++) { // more than one system call accepts
        words.add(word());
        probes.add(start(loop.futex(words.getLast(), 0)));
      }
      loop.runUntilEmpty();
      for (int i = 0; i < 300; i += 3) {
        change(words.get(i));
      }
      drive(
          loop,
          () -> {
            int done = 0;
            for (int i = 0; i < 300; i += 3) {
              done += probes.get(i).count();
            }
            return done == 100;
          });
      assertThat(probes.stream().filter(Probe::done)).hasSize(100);
      probes.get(1).operation.cancel();
      drive(loop, probes.get(1)::done);
      assertThat(probes.get(1).outcome()).isEqualTo(Outcome.STOPPED);
    }
    assertThat(probes).allMatch(probe -> probe.count() == 1);
    assertThat(probes.get(2).outcome()).isEqualTo(Outcome.STOPPED);
  }

  // Regression: a wait that could not be submitted failed, but the loop slept before it delivered
  // the failure.
  // r[verify loop.wait.flush-first]
  @EveryBackend
  void aFreedWordFailsItsWaitBeforeTheLoopSleeps(Backend backend) throws Exception {
    for (Duration busyPoll : List.of(Duration.ZERO, Duration.ofMillis(1))) {
      var options = LoopOptions.DEFAULT.withBackend(backend).withBusyPoll(busyPoll);
      try (Driven driven = Driven.of(EventLoop.open(options)).asleep()) {
        var failure = new CompletableFuture<@Nullable Throwable>();
        driven
            .scheduler()
            .execute(
                () -> {
                  FutexOperation wait;
                  try (Arena freed = Arena.ofShared()) {
                    wait = driven.loop().futex(freed.allocate(ValueLayout.JAVA_INT), 0);
                  }
                  wait.start(ended -> failure.complete(ended.error()));
                });
        assertThat(LoopSupport.get(failure)).isInstanceOf(IllegalStateException.class);
      }
    }
  }

  // Regression: the result came without an event, and a loop that polls before it sleeps missed it.
  // r[verify loop.wait.flush-first]
  @EveryBackend
  void aWaitThatIsOverAtOnceEndsBeforeALoopSleepsThatPollsFirst(Backend backend) throws Exception {
    var options = LoopOptions.DEFAULT.withBackend(backend).withBusyPoll(Duration.ofMillis(1));
    try (Driven driven = Driven.of(EventLoop.open(options)).asleep()) {
      LoopSupport.get(driven.loop().futex(word(), 1).toFuture());
    }
  }

  // r[verify loop.cancel.stopped]
  @EveryBackend
  void cancelAgainstAWakeUpEndsEachWaitOnce(Backend backend) throws Exception {
    cancelAgainstAWakeUpEndsEachWaitOnce(EventLoop.open(backend));
  }

  private void cancelAgainstAWakeUpEndsEachWaitOnce(EventLoop loop) throws Exception {
    try (Driven _ = Driven.of(loop)) {
      MemorySegment word = word();
      FutexOperation wait = loop.futex(word, 0);
      for (int i = 0; i < LoopSupport.rounds(3_000, 100_000); i++) {
        var probe = new Probe<>(wait.expecting((int) WORD.getVolatile(word, 0L)));
        wait.start(probe);
        Thread rival = (i & 31) == 0 ? Thread.ofPlatform().start(() -> change(word)) : null;
        wait.cancel();
        if (rival != null) {
          LoopSupport.join(rival);
        }
        LoopSupport.await(probe::done);
        assertThat(probe.count()).isEqualTo(1);
        assertThat(wait.outcome()).isIn(Outcome.VALUE, Outcome.STOPPED);
      }
    }
  }

  /** When that thread ends, Linux 6.18 returns the wait, and Linux 6.12 keeps it. */
  @EveryBackend
  @NeedsIoUring
  void aWaitOutlivesTheThreadThatBeganIt(Backend backend) throws Exception {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      MemorySegment word = word();
      Probe<Void> probe = start(loop.futex(word, 0));
      var turns = new FutureTask<>(loop::runUntilEmpty);
      LoopSupport.join(Thread.ofPlatform().start(turns));
      turns.get();
      assertThat(tapped.requests.requests("futex")).isEqualTo(1); // the kernel has it
      for (int i = 0; i < 20 && tapped.requests.requests("futex") == 1; i++) {
        loop.runSome(Duration.ofMillis(5));
      }
      assertThat(probe.done()).isFalse();
      change(word);
      drive(loop, probe::done);
      assertThat(probe.outcome()).isEqualTo(Outcome.VALUE);
    }
  }

  /** Waits for three words, one after the other. */
  private void threeWaits(EventLoop loop) throws IOException {
    for (int i = 0; i < 3; i++) {
      MemorySegment word = word();
      var probe = start(loop.futex(word, 0));
      loop.runUntilEmpty();
      assertThat(probe.done()).isFalse();
      change(word);
      drive(loop, probe::done);
      assertThat(probe.outcome()).isEqualTo(Outcome.VALUE);
    }
  }

  private static long waitingThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(FutexThread.THREAD_NAME))
        .count();
  }

  @EveryBackend
  @NeedsIoUring
  void theKernelWaitsWithoutAThread(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      threeWaits(tapped.loop);
      assertThat(tapped.requests.requests("futex")).isEqualTo(3);
      assertThat(waitingThreads()).isZero();
    }
  }

  @EveryBackend
  @NeedsIoUring
  void whereTheKernelCannotAThreadWaits(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      tapped.requests.fail("futex", Errno.EINVAL);
      threeWaits(tapped.loop);
      assertThat(tapped.requests.requests("futex")).isEqualTo(1); // one attempt is enough to know
      assertThat(waitingThreads()).isEqualTo(1);
    }
    assertThat(waitingThreads()).isZero();
  }

  // Regression: a thread could end a wait after the loop's own end, and it was never completed.
  // r[verify loop.err.unexpected]
  @EveryBackend
  @NeedsIoUring
  void noThreadOutlivesALoopWhoseWaitFails(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      tapped.requests.fail("futex", Errno.EINVAL);
      Probe<Void> probe = start(tapped.loop.futex(word(), 0));
      LoopSupport.drive(tapped.loop, () -> waitingThreads() == 1);
      tapped
          .loop
          .scheduler()
          .after(Duration.ofHours(1)) // so that the end stops it
          .start(_ -> tapped.tap.fail(WaitLog.call(backend), Errno.EBADF));
      tapped.loop.requestStop();
      assertThatExceptionOfType(ErrnoException.class).isThrownBy(tapped.loop::run);
      assertThat(waitingThreads()).isZero();
      assertThat(probe.outcome()).isEqualTo(Outcome.STOPPED);
    }
  }

  @Test
  void anEpollWithoutARingWaitsOnAThread() throws IOException {
    try (var tapped = new Tapped(Backend.EPOLL)) {
      tapped.tap.fail("ioUringSetup", Errno.EPERM);
      threeWaits(tapped.loop);
      assertThat(tapped.tap.calls("ioUringSetup")).isEqualTo(1);
      assertThat(waitingThreads()).isEqualTo(1);
    }
  }

  /** Neither io_uring nor {@code futex_waitv}, as before Linux 5.16 and in some sandboxes. */
  private static SysTap oldKernel() {
    SysTap tap = LoopSupport.tap();
    tap.fail("ioUringSetup", Errno.ENOSYS);
    tap.fail("futexWaitv", Errno.ENOSYS);
    return tap;
  }

  // Regression: every word was checked a thousand times a second, though nothing happened.
  @Test
  void anOldKernelSleepsOnEachWord() throws Exception {
    SysTap tap = oldKernel();
    try (EventLoop loop = LoopSupport.open(Backend.EPOLL, tap)) {
      threeWaits(loop);
      assertThat(tap.calls("futexWaitv")).isEqualTo(1); // one attempt is enough to know
      Probe<Void> first = start(loop.futex(word(), 0));
      Probe<Void> second = start(loop.futex(word(), 0));
      long before = tap.calls("futex");
      loop.runSome(Duration.ofMillis(500));
      assertThat(tap.calls("futex") - before).isLessThan(50);
      assertThat(List.of(first, second)).noneMatch(Probe::done);
    }
    LoopSupport.await(() -> waitingThreads() == 0);
  }

  @Test
  void threadsDoNotWaitForAFreedWord() throws IOException {
    FutexOperation wait;
    try (EventLoop loop = LoopSupport.open(Backend.EPOLL, oldKernel())) {
      try (Arena freed = Arena.ofShared()) {
        wait = loop.futex(freed.allocate(ValueLayout.JAVA_INT), 0);
      }
      Probe<Void> probe = start(wait);
      drive(loop, probe::done);
      assertThat(probe.outcome()).isEqualTo(Outcome.ERROR);
      assertThat(wait.error()).isInstanceOf(IllegalStateException.class);
    }
  }

  // Regression: it had failed, and was completed once more at the end of the loop.
  @Test
  void aWaitForWhichThereIsNoThreadIsNotKept() throws IOException {
    try (EventLoop loop = EventLoop.open()) {
      var sleepers = new FutexSleepers(SYS);
      sleepers.close(); // so that it can start no thread
      FutexOperation wait = loop.futex(word(), 0);
      assertThatExceptionOfType(RejectedExecutionException.class)
          .isThrownBy(() -> sleepers.add(wait));
      assertThat(sleepers.waiting()).isEmpty();
    }
  }

  @Test
  void waitsOnAnOldKernelAreNoDifferent() throws Exception {
    aCoroutineWaitsUntilTheWordChanges(LoopSupport.open(Backend.EPOLL, oldKernel()));
    manyWordsAreWaitedForAtOnce(LoopSupport.open(Backend.EPOLL, oldKernel()));
    cancelAgainstAWakeUpEndsEachWaitOnce(LoopSupport.open(Backend.EPOLL, oldKernel()));
    LoopSupport.await(() -> waitingThreads() == 0);
  }

  // Regression: the next wait failed with that error.
  @Test
  void whatTheKernelSaysOfAWaitThatWasCancelledIsForgotten() throws Exception {
    SysTap tap = oldKernel();
    var sleeper = new CompletableFuture<Thread>();
    var cancelled = new CompletableFuture<Boolean>();
    tap.script(
        "futex",
        (_, arguments) -> {
          int wake = 3; // arguments
          if (arguments.length == wake || !sleeper.complete(Thread.currentThread())) {
            return OptionalLong.empty();
          }
          cancelled.join();
          return OptionalLong.of(-Errno.EFAULT);
        });
    try (EventLoop loop = LoopSupport.open(Backend.EPOLL, tap)) {
      FutexOperation wait = loop.futex(word(), 0);
      Probe<Void> first = start(wait);
      loop.runUntilEmpty();
      Thread asleep = LoopSupport.get(sleeper);
      wait.cancel();
      drive(loop, first::done);
      assertThat(first.outcome()).isEqualTo(Outcome.STOPPED);
      cancelled.complete(true);
      LoopSupport.await(() -> asleep.getState() == Thread.State.TIMED_WAITING); // for other work
      result(loop, wait.expecting(1));
    }
  }

  // Regression: the thread died of the fault, and all other words had no waiter any more.
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWordWhoseMemoryIsCutAwayFailsItsOwnWaitOnly(boolean old, @TempDir Path directory)
      throws IOException {
    try (var tapped = new Tapped(Backend.EPOLL);
        FileChannel file =
            FileChannel.open(directory.resolve("words"), Set.of(CREATE_NEW, READ, WRITE))) {
      tapped.tap.fail("ioUringSetup", Errno.EPERM);
      if (old) {
        tapped.tap.fail("futexWaitv", Errno.ENOSYS);
      }
      MemorySegment cut = file.map(FileChannel.MapMode.READ_WRITE, 0, 4096, arena);
      MemorySegment whole = word();
      Probe<Void> failing = start(tapped.loop.futex(cut, 0));
      Probe<Void> waiting = start(tapped.loop.futex(whole, 0));
      tapped.loop.runUntilEmpty();
      file.truncate(0);
      Probe<Void> another = start(tapped.loop.futex(word(), 1)); // makes the thread check again
      drive(tapped.loop, () -> failing.done() && another.done());
      assertThat(failing.outcome()).isEqualTo(Outcome.ERROR);
      assertThat(waiting.done()).isFalse();
      change(whole);
      drive(tapped.loop, waiting::done);
      assertThat(waiting.outcome()).isEqualTo(Outcome.VALUE);
    }
  }

  @Test
  @NeedsIoUring
  void whatTheRingOfAnEpollDidNotTakeIsHandedOverAgain() throws Exception {
    try (var tapped = new Tapped(Backend.EPOLL)) {
      tapped.tap.failFirst("ioUringEnter", 2, Errno.EAGAIN);
      threeWaits(tapped.loop);
      assertThat(tapped.tap.calls("ioUringEnter")).isGreaterThan(2);
    }
  }

  // Regression: the loop submitted them again and again, as fast as it could.
  // r[verify loop.err.transient]
  @EveryBackend
  @NeedsIoUring
  void aLoopSleepsBetweenAttemptsWhileTheRingLacksMemory(Backend backend) throws Exception {
    try (var tapped = new Tapped(backend)) {
      threeWaits(tapped.loop); // so that the ring is there
      tapped.tap.script(
          "ioUringEnter",
          (_, enter) -> (int) enter[1] > 0 ? OptionalLong.of(-Errno.EAGAIN) : OptionalLong.empty());
      MemorySegment word = word();
      Probe<Void> wait = start(tapped.loop.futex(word, 0));
      long calls = tapped.tap.calls("ioUringEnter");
      long began = System.nanoTime();
      drive(tapped.loop, start(tapped.loop.scheduler().after(Duration.ofMillis(200)))::done);
      long millis = Duration.ofNanos(System.nanoTime() - began).toMillis();
      calls = tapped.tap.calls("ioUringEnter") - calls;
      tapped.tap.pass("ioUringEnter");
      assertThat(calls).isBetween(1L, 5 * millis);
      change(word);
      drive(tapped.loop, wait::done);
    }
  }
}
