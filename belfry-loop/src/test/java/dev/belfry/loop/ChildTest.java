package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class ChildTest {
  private static final Sys SYS = Sys.forAnyThread();

  private static Process java(String script) throws IOException {
    return new ProcessBuilder("/bin/sh", "-c", script).start();
  }

  private static PidFd ours(String script) throws IOException {
    return Spawn.command("/bin/sh", "-c", script).start(SYS);
  }

  @EveryBackend
  void aProcessOfTheJdkTellsItsExitCode(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      var resumed = new CompletableFuture<Thread>();
      Process waiting = java("read line; exit 3");
      ChildOperation<Integer> exit = driven.loop().child(waiting);
      exit.start(_ -> resumed.complete(Thread.currentThread()));
      driven.asleep();
      waiting.getOutputStream().close();
      assertThat(LoopSupport.get(resumed)).isSameAs(driven.thread());
      assertThat(exit.result()).isEqualTo(3);
      assertThat(exit.await()).as("asked again").isEqualTo(3);

      assertThat(driven.loop().child(java("kill -9 $$")).await()).isEqualTo(128 + Signo.KILL);
    }
  }

  // Regression: the error of a wait that took too long showed an internal record of the loop.
  @Test
  void aWaitSaysForWhichProcess() throws Exception {
    Process process = java("exit 0");
    try (EventLoop loop = EventLoop.open();
        PidFd ours = ours("exit 0")) {
      assertThat(loop.child(process)).hasToString("wait for the end of process " + process.pid());
      assertThat(loop.child(ours)).hasToString("wait for the end of process " + ours.pid());
      ours.awaitExit();
      process.waitFor();
    }
  }

  @EveryBackend
  void aProcessThatEndedLongAgoIsNotWaitedFor(Backend backend) throws Exception {
    Process ended = java("exit 4");
    assertThat(ended.waitFor()).isEqualTo(4);
    try (Driven driven = Driven.open(backend)) {
      Coroutine<Integer> coroutine =
          driven.loop().spawn("parent", () -> driven.loop().child(ended).await());
      assertThat(LoopSupport.get(coroutine.result())).isEqualTo(4);
    }
  }

  @EveryBackend
  void aChildOfOursTellsHowItEndedAndIsReaped(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend);
        PidFd child = ours("exit 3");
        PidFd killed = ours("kill -9 $$")) {
      ChildOperation<ExitStatus> exit = driven.loop().child(child);
      assertThat(exit.await()).isEqualTo(new ExitStatus(false, 3, false));
      assertThat(exit.await()).as("asked again").isEqualTo(new ExitStatus(false, 3, false));
      assertThat(driven.loop().child(killed).await().number()).isEqualTo(Signo.KILL);
      assertThatExceptionOfType(ErrnoException.class)
          .isThrownBy(() -> driven.loop().child(child).await())
          .satisfies(failure -> assertThat(failure.errno()).isEqualTo(Errno.ECHILD));
    }
  }

  @EveryBackend
  void manyChildrenEndInWhateverOrder(Backend backend) throws Exception {
    int count = LoopSupport.rounds(20, 500);
    try (Driven driven = Driven.open(backend)) {
      var exits = new ArrayList<CompletableFuture<Integer>>();
      for (int i = 0; i < count; i++) {
        exits.add(driven.loop().child(java("exit " + i % 100)).toFuture());
      }
      for (int i = 0; i < count; i++) {
        assertThat(LoopSupport.get(exits.get(i))).isEqualTo(i % 100);
      }
    }
  }

  @EveryBackend
  void aWaitForAChildCanBeWithdrawnAndLeavesNoDescriptor(Backend backend) throws Exception {
    Process process = java("read line");
    try (EventLoop loop = EventLoop.open(backend);
        PidFd child = ours("exec sleep 1000")) {
      loop.runUntilEmpty();
      Descriptors before = Descriptors.now();
      for (ChildOperation<?> wait : List.of(loop.child(process), loop.child(child))) {
        var done = new CompletableFuture<Outcome>();
        wait.start(ended -> done.complete(ended.outcome()));
        loop.runUntilEmpty();
        wait.cancel();
        LoopSupport.drive(loop, done::isDone);
        assertThat(done.join()).isEqualTo(Outcome.STOPPED);
      }
      assertThat(before.openedSince()).isEmpty();
      assertThat(loop.inFlight()).isZero();

      var stopped = new CompletableFuture<Outcome>();
      loop.child(process).start(ended -> stopped.complete(ended.outcome()));
      loop.requestStop();
      loop.run();
      assertThat(stopped.join()).isEqualTo(Outcome.STOPPED);
      assertThat(before.openedSince()).isEmpty();
      child.sendSignal(Signo.KILL);
      child.awaitExit();
    } finally {
      process.destroy();
    }
  }

  @EveryBackend
  void withoutADescriptorTheWaitFails(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    Process process = java("read line");
    try (EventLoop loop = LoopSupport.open(backend, tap)) {
      tap.fail("pidfdOpen", Errno.EMFILE);
      var done = new CompletableFuture<Throwable>();
      loop.child(process).start(ended -> done.complete(ended.error()));
      LoopSupport.drive(loop, done::isDone);
      assertThat(done.join())
          .isInstanceOfSatisfying(
              ErrnoException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EMFILE));
    } finally {
      process.destroy();
    }
  }
}
