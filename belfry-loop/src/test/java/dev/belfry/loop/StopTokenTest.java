package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class StopTokenTest {

  @Test
  void aStopRunsEveryCallbackOnceAndOnlyTheFirstRequestCounts() {
    var source = new StopSource();
    var ran = new ArrayList<Integer>();
    source.token().onStop(() -> ran.add(1));
    source.token().onStop(() -> ran.add(2));
    assertThat(source.isStopRequested()).isFalse();
    assertThat(source.requestStop()).isTrue();
    assertThat(source.requestStop()).isFalse();
    assertThat(source.token().isStopRequested()).isTrue();
    assertThat(ran).containsExactlyInAnyOrder(1, 2);
  }

  @Test
  void aCallbackThatComesTooLateRunsAtOnce() {
    var source = new StopSource();
    source.requestStop();
    var ran = new AtomicInteger();
    source.token().onStop(ran::incrementAndGet).close();
    assertThat(ran).hasValue(1);
  }

  @Test
  void aClosedRegistrationIsNotRun() {
    var source = new StopSource();
    var ran = new ArrayList<String>();
    StopToken.Registration first = source.token().onStop(() -> ran.add("first"));
    StopToken.Registration second = source.token().onStop(() -> ran.add("second"));
    StopToken.Registration third = source.token().onStop(() -> ran.add("third"));
    second.close();
    second.close();
    source.requestStop();
    first.close();
    third.close();
    assertThat(ran).containsExactlyInAnyOrder("first", "third");
  }

  @Test
  void aCallbackMayCloseOthersAndRegisterMore() {
    var source = new StopSource();
    var ran = new ArrayList<String>();
    StopToken.Registration older = source.token().onStop(() -> ran.add("older"));
    source
        .token()
        .onStop(
            () -> {
              older.close();
              source.token().onStop(() -> ran.add("late"));
              ran.add("newer");
            });
    source.requestStop();
    assertThat(ran).containsExactly("late", "newer");
  }

  // Regression: one callback that threw kept the rest from running, so their work went on.
  @Test
  void aCallbackThatThrowsDoesNotKeepTheOthersFromRunning() {
    var source = new StopSource();
    var ran = new AtomicInteger();
    for (int i = 0; i < 3; i++) {
      source
          .token()
          .onStop(
              () -> {
                ran.incrementAndGet();
                throw new IllegalStateException("a callback");
              });
    }
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(source::requestStop)
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(2));
    assertThat(ran).hasValue(3);
  }

  // Regression: an unregistered callback still pointed to its neighbour, that one to the next, and
  // so on without end.
  @Test
  void whatWasTakenBackDoesNotKeepWhatCameAfterIt() {
    var source = new StopSource();
    StopToken.Registration kept = source.token().onStop(() -> {});
    StopToken.Registration last = source.token().onStop(() -> {});
    kept.close();
    var gone = new ArrayList<WeakReference<AtomicInteger>>();
    for (int i = 0; i < 100; i++) {
      last = followedBy(source, last, gone);
    }
    last.close();
    LoopSupport.await(
        () -> {
          System.gc();
          return gone.subList(0, gone.size() - 1).stream()
              .allMatch(counter -> counter.refersTo(null));
        });
    kept.close();
  }

  /** Closes a registration after the next one was made. */
  private static StopToken.Registration followedBy(
      StopSource source, StopToken.Registration last, List<WeakReference<AtomicInteger>> counters) {
    var counter = new AtomicInteger();
    counters.add(new WeakReference<>(counter));
    StopToken.Registration next = source.token().onStop(counter::incrementAndGet);
    last.close();
    return next;
  }

  @Test
  void theTokenThatNeverFiresKeepsNothing() {
    assertThat(StopToken.NEVER.isStopRequested()).isFalse();
    StopToken.NEVER.onStop(() -> {}).close();
  }

  @Test
  void registeringClosingAndStoppingMayRace() throws Exception {
    int rounds = LoopSupport.rounds(5_000, 200_000);
    for (int i = 0; i < rounds; i++) {
      var source = new StopSource();
      var ran = new AtomicInteger();
      Thread stopper = i % 2 == 0 ? Thread.ofVirtual().start(source::requestStop) : null;
      StopToken.Registration kept = source.token().onStop(ran::incrementAndGet);
      StopToken.Registration closed = source.token().onStop(() -> {});
      closed.close();
      source.requestStop();
      if (stopper != null) {
        LoopSupport.join(stopper);
      }
      assertThat(ran).hasValue(1);
      kept.close();
    }
  }
}
