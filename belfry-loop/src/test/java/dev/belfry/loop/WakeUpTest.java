package dev.belfry.loop;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Sys;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.loop.LoopSupport.EveryEpoll;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

final class WakeUpTest {

  // r[verify loop.wake.eventfd]
  @EveryEpoll
  void theEventDescriptorIsWatchedByEdges(Backend backend) throws IOException {
    Map<Integer, String> before = Descriptors.now().targets();
    try (EventLoop loop = EventLoop.open(backend)) {
      assertThat(loop.runSome()).isZero();
      int epoll = -1;
      int event = -1;
      for (var entry : Descriptors.now().targets().entrySet()) {
        if (!before.containsKey(entry.getKey())) {
          epoll = entry.getValue().contains("eventpoll") ? entry.getKey() : epoll;
          event = entry.getValue().contains("eventfd") ? entry.getKey() : event;
        }
      }
      List<String> watched = Files.readAllLines(Path.of("/proc/self/fdinfo/" + epoll));
      String pattern = "tfd:\\s+" + event + "\\s+events:\\s+80000019\\s.*"; // ET ERR HUP IN
      assertThat(watched).anyMatch(line -> line.matches(pattern));
    }
  }

  // r[verify loop.wake.eventfd]
  @EveryBackend
  void postsToABusyLoopCauseAtMostOneWrite(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    try (Driven driven = Driven.of(LoopSupport.open(backend, tap))) {
      var busy = new CountDownLatch(1);
      var goOn = new CountDownLatch(1);
      driven
          .scheduler()
          .execute(
              () -> {
                busy.countDown();
                try {
                  LoopSupport.await(goOn);
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
      LoopSupport.await(busy);
      long writes = tap.calls("write");
      var ran = new CountDownLatch(1000);
      for (int i = 0; i < 1000; i++) {
        driven.scheduler().execute(ran::countDown);
      }
      assertThat(tap.calls("write") - writes).isLessThanOrEqualTo(1);
      goOn.countDown();
      LoopSupport.await(ran);
      assertThat(driven.loop().metrics().wakeUpsSaved()).isGreaterThanOrEqualTo(999);
    }
  }

  // r[verify loop.wake.eventfd]
  @EveryBackend
  void aSleepingLoopIsAlwaysWoken(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      ScheduleOperation ping = driven.scheduler().schedule();
      for (int i = 0; i < LoopSupport.rounds(5_000, 200_000); i++) {
        LoopSupport.get(ping.toFuture());
      }
    }
  }

  // Regression: the loop counted as woken, so no thread tried again, and nothing was reported.
  // r[verify loop.wake.eventfd]
  @EveryBackend
  void aWakeUpThatFailsIsLoggedAndTheNextOneIsMade(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    try (Quiet log = Quiet.log(EventLoop.class);
        Driven driven = Driven.of(LoopSupport.open(backend, tap)).asleep()) {
      long before = tap.calls("write");
      tap.failAt("write", 1, Errno.EBADF);
      LoopSupport.await(
          () -> {
            driven.scheduler().execute(() -> {}); // one of them finds the loop asleep
            return tap.calls("write") > before;
          });
      assertThat(log.messages()).singleElement().asString().contains("cannot be woken");
      LoopSupport.get(driven.scheduler().schedule().toFuture());
    }
  }

  // r[verify loop.wake.eventfd]
  @EveryBackend
  void noWakeUpReachesADescriptorThatIsNotTheLoops(Backend backend) throws Exception {
    int rounds = LoopSupport.rounds(400, 10_000);
    SysTap tap = LoopSupport.tap();
    Set<Integer> open = ConcurrentHashMap.newKeySet();
    var strays = new AtomicInteger();
    tap.script(
        "write",
        (_, arguments) -> {
          if (!open.contains((Integer) arguments[0])) {
            strays.incrementAndGet();
          }
          return OptionalLong.empty();
        });
    tap.script(
        "close",
        (_, arguments) -> {
          open.remove((Integer) arguments[0]);
          return OptionalLong.empty();
        });
    tap.script(
        "eventfd",
        (_, arguments) -> {
          int made = Sys.forAnyThread().eventfd((int) arguments[0], (int) arguments[1]);
          open.add(made);
          return OptionalLong.of(made);
        });
    var current = new AtomicReference<EventLoop>(LoopSupport.open(backend, tap));
    var over = new AtomicBoolean();
    var producers = new ArrayList<Thread>();
    for (int i = 0; i < 8; i++) {
      producers.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!over.get()) {
                      try {
                        requireNonNull(current.get()).scheduler().execute(() -> {});
                        LockSupport.parkNanos(1); // lets the others in
                      } catch (RejectedExecutionException closed) {
                        Thread.onSpinWait();
                      }
                    }
                  }));
    }
    try {
      for (int i = 0; i < rounds; i++) {
        try (EventLoop loop = requireNonNull(current.get())) {
          loop.runOne();
        }
        current.set(LoopSupport.open(backend, tap));
      }
    } finally {
      over.set(true);
      for (Thread producer : producers) {
        LoopSupport.join(producer);
      }
      requireNonNull(current.get()).close();
    }
    assertThat(strays).hasValue(0);
  }
}
