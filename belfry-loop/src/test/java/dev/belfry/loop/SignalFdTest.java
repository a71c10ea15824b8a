package dev.belfry.loop;

import static dev.belfry.loop.SignalLoop.RT;
import static dev.belfry.loop.SignalLoop.SYS;
import static dev.belfry.loop.SignalLoop.kill;
import static dev.belfry.loop.SignalLoop.queue;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.FdFlags;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.Signo;
import dev.belfry.linux.ThreadSignals;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.loop.SignalLoop.Waiter;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** The signalfd, what it delivers, and the order in which signals are handed out. */
@InSignalJvm
final class SignalFdTest {

  // r[verify sig.fd.signalfd] r[verify sig.fd.flags]
  @EveryBackend
  void theSignalsComeByADescriptorThatTheLoopWatches(Backend backend) throws Exception {
    Map<Integer, String> before = Descriptors.now().targets();
    SigSet caught = caught();
    try (SignalLoop tested = SignalLoop.attached(backend, Signo.USR1)) {
      tested.settle();
      int epoll = -1;
      int signals = -1;
      for (var entry : Descriptors.now().targets().entrySet()) {
        if (!before.containsKey(entry.getKey())) {
          epoll = entry.getValue().contains("eventpoll") ? entry.getKey() : epoll;
          signals = entry.getValue().contains("signalfd") ? entry.getKey() : signals;
        }
      }
      if (backend != Backend.IO_URING) { // which does not show what it watches
        String pattern = "tfd:\\s+" + signals + "\\s.*";
        assertThat(Files.readAllLines(Path.of("/proc/self/fdinfo/" + epoll)))
            .anyMatch(line -> line.matches(pattern));
      }
      assertThat(Files.readString(Path.of("/proc/self/fdinfo/" + signals)))
          .contains("sigmask:\t" + "%016x".formatted(SigSet.of(Signo.USR1).bits()));
      assertThat(FdFlags.isNonBlocking(SYS, signals)).isTrue();
      assertThat(FdFlags.isCloseOnExec(SYS, signals)).isTrue();
      assertThat(caught()).isEqualTo(caught);
    }
    assertThat(caught()).isEqualTo(caught);
  }

  private static SigSet caught() throws IOException {
    return ThreadSignals.ofThisProcess().getFirst().caught();
  }

  // r[verify sig.fd.drain]
  @EveryBackend
  void oneEdgeBringsAThousandSignalsInOrderInFewReads(Backend backend) throws Exception {
    SysTap tap = LoopSupport.tap();
    try (SignalLoop tested = SignalLoop.attached(backend, tap, RT)) {
      tested.settle();
      queue(RT, IntStream.range(0, 1000).toArray());
      long reads = tap.calls("read");
      assertThat(tested.loop.runSome()).isZero(); // there is no waiter, so nothing completes
      assertThat(tap.calls("read") - reads).isBetween(16L, 17L);
      assertThat(take(tested, 1000)).isEqualTo(IntStream.range(0, 1000).boxed().toList());
    }
  }

  // r[verify sig.fd.drain]
  @EveryBackend
  void whatATurnLeavesBehindTheNextOneReads(Backend backend) throws Exception {
    EventLoop loop =
        EventLoop.open(LoopOptions.DEFAULT.withBackend(backend).withTurnLimits(1 << 20, 1));
    try (SignalLoop tested = SignalLoop.attached(loop, 1000, RT)) {
      queue(RT, IntStream.range(0, 300).toArray());
      tested.drive(() -> tested.pending(RT) == 300);
      assertThat(take(tested, 300)).isEqualTo(IntStream.range(0, 300).boxed().toList());
      queue(RT, 300); // the next edge is seen too
      tested.drive(() -> tested.pending(RT) == 1);
    }
  }

  private static List<Integer> take(SignalLoop tested, int count) throws Exception {
    return tested.call(
        () -> {
          var values = new ArrayList<Integer>();
          for (int i = 0; i < count; i++) {
            values.add(tested.service.tryTake(RT).orElseThrow().intValue());
          }
          assertThat(tested.service.tryTake(RT)).isEmpty();
          return values;
        });
  }

  // r[verify sig.pending.queue]
  @EveryBackend
  void whatNobodyWaitsForIsKeptInOrder(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
      queue(RT, 1, 2, 3);
      tested.drive(() -> tested.pending(RT) == 3);
      Coroutine<List<Integer>> coroutine =
          tested.loop.spawn(
              "waiter",
              () ->
                  List.of(
                      tested.service.await(RT).intValue(),
                      tested.service.await(RT).intValue(),
                      tested.service.await(RT).intValue()));
      tested.drive(coroutine.result()::isDone);
      assertThat(coroutine.result().join()).containsExactly(1, 2, 3);
    }
  }

  // r[verify sig.pending.bound]
  @EveryBackend
  void theOldestAreKeptAndTheRestIsCounted(Backend backend) throws Exception {
    EventLoop loop = EventLoop.open(backend);
    try (SignalLoop tested = SignalLoop.attached(loop, 10, RT, Signo.USR1)) {
      queue(RT, IntStream.rangeClosed(1, 25).toArray());
      kill(Signo.USR1);
      tested.drive(() -> tested.service.dropped(RT) == 15);
      tested.settle();

      assertThat(take(tested, 10)).isEqualTo(IntStream.rangeClosed(1, 10).boxed().toList());
      assertThat(tested.pending(Signo.USR1)).as("has a bound of its own").isEqualTo(1);
      assertThat(tested.service.dropped(Signo.USR1)).isZero();
    }
  }

  // r[verify sig.fifo.waiters]
  @EveryBackend
  void waitersAreServedInTheOrderTheyQueued(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT, Signo.USR1)) {
      var order = new ArrayList<String>();
      for (String name : List.of("first", "second", "third")) {
        tested.service.next(RT).start(done -> order.add(name + done.value().intValue()));
      }
      queue(RT, 1, 2, 3);
      tested.drive(() -> order.size() == 3);
      assertThat(order).containsExactly("first1", "second2", "third3");

      Waiter first = tested.waiter(Signo.USR1);
      Waiter second = tested.waiter(Signo.USR1);
      kill(Signo.USR1);
      tested.drive(first::isDone);
      assertThat(second.isDone()).isFalse();
      kill(Signo.USR1);
      tested.drive(second::isDone);
    }
  }

  // r[verify sig.fifo.waiters]
  @EveryBackend
  void coroutinesAreServedInTheOrderTheyQueued(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, RT)) {
      var order = new ArrayList<String>();
      for (String name : List.of("first", "second")) {
        tested.loop.spawn(name, () -> order.add(name + tested.service.await(RT).intValue()));
      }
      tested.settle();
      queue(RT, 1, 2);
      tested.drive(() -> order.size() == 2);
      assertThat(order).containsExactly("first1", "second2");
    }
  }

  // r[verify sig.fifo.scope]
  @EveryBackend
  void bothOfTwoSignalsComeInWhateverOrder(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.attached(backend, Signo.USR1, Signo.USR2)) {
      Waiter first = tested.waiter(Signo.USR1);
      Waiter second = tested.waiter(Signo.USR2);
      kill(Signo.USR2);
      kill(Signo.USR1);
      tested.drive(() -> first.isDone() && second.isDone());
      assertThat(first.operation.result().signum()).isEqualTo(Signo.USR1);
      assertThat(second.operation.result().signum()).isEqualTo(Signo.USR2);
    }
  }

  // r[verify sig.none.thread]
  @EveryBackend
  void theServiceHasNoThread(Backend backend) throws Exception {
    try (SignalLoop tested = SignalLoop.open(backend)) {
      var before = javaThreads();
      tested.attach(RT);
      for (int i = 0; i < 100; i++) {
        Waiter waiter = tested.waiter(RT);
        queue(RT, i);
        tested.drive(waiter::isDone);
      }
      assertThat(javaThreads()).isEqualTo(before);
      tested.call(
          () -> {
            tested.service.detach();
            return true;
          });
      assertThat(javaThreads()).isEqualTo(before);
    }
  }

  /** Without the JIT compiler's threads, which come and go. */
  private static Set<String> javaThreads() {
    var names = new TreeSet<String>();
    Thread.getAllStackTraces().keySet().forEach(thread -> names.add(thread.getName()));
    return names;
  }
}
