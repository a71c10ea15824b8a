package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway.Init") // set before each test
final class TimerHeapTest {
  private EventLoop loop;

  @BeforeEach
  void open() throws IOException {
    loop = EventLoop.open();
  }

  @AfterEach
  void close() {
    loop.close();
  }

  private record Entry(long deadline, long order, TimerOperation timer) {}

  // r[verify loop.timer.heap] r[verify loop.timer.cancel-lazy]
  @Test
  void aHeapAgreesWithASortedSetOverRandomInsertionsAndRemovals() {
    var heap = new TimerHeap();
    var model =
        new TreeSet<Entry>(
            Comparator.comparingLong(Entry::deadline).thenComparingLong(Entry::order));
    var pending = new ArrayList<Entry>();
    var random = new Random(11);
    long order = 0;
    for (int i = 0; i < 100_000; i++) {
      boolean growing = i / 10_000 % 2 == 0;
      int action = random.nextInt(10);
      if (action < (growing ? 6 : 3) || model.isEmpty()) {
        var entry = new Entry(random.nextInt(1000), order++, new TimerOperation(loop));
        heap.add(entry.timer(), entry.deadline());
        model.add(entry);
        pending.add(entry);
      } else if (action < 8) {
        Entry entry = removeAny(pending, random.nextInt(pending.size()));
        if (model.remove(entry)) { // else it has expired
          heap.cancel(entry.timer());
        }
      } else {
        long now = model.first().deadline() + random.nextInt(3) - 1;
        Entry first = model.first();
        if (first.deadline() <= now) {
          assertSameTimer(heap.pollExpired(now), first);
          model.pollFirst();
        } else {
          assertThat(heap.pollExpired(now)).isNull();
        }
      }
      if (heap.pending() != model.size()) {
        throw new AssertionError(heap.pending() + " pending instead of " + model.size());
      }
      long earliest = model.isEmpty() ? Long.MAX_VALUE : model.first().deadline();
      if (heap.earliest() != earliest) {
        throw new AssertionError("earliest " + heap.earliest() + " instead of " + earliest);
      }
      if (heap.entries() > Math.max(64, 2 * model.size() + 2)) {
        throw new AssertionError(heap.entries() + " entries for " + model.size() + " timers");
      }
    }
    for (Entry entry : model) {
      assertSameTimer(heap.poll(), entry);
    }
    assertThat(heap.poll()).isNull();
    assertThat(heap.entries()).isZero();
  }

  // r[verify loop.timer.delay]
  @Test
  void newcomersComeOutInTheOrderOfDeadlineAndStart() {
    var heap = new TimerHeap();
    var random = new Random(12);
    var pending = new ArrayList<Entry>();
    for (int round = 0; round < 100; round++) {
      var newcomers = new ArrayList<Entry>();
      long now = round * 100L;
      for (int i = 0; i < 1000; i++) {
        if (random.nextInt(3) > 0 || newcomers.isEmpty()) {
          long delay = random.nextInt(500);
          TimerOperation timer = new TimerOperation(loop).afterNanos(delay);
          timer.prepare(true);
          heap.addNewcomer(timer);
          newcomers.add(new Entry(now + delay, round * 1000 + i, timer));
        } else {
          heap.cancel(removeAny(newcomers, random.nextInt(newcomers.size())).timer());
        }
      }
      pending.addAll(newcomers);
      assertThat(heap.pending()).isEqualTo(pending.size());
      heap.settle(now);
      assertThat(heap.hasNewcomers()).isFalse();
      assertThat(heap.pending()).isEqualTo(pending.size());
      heap.cancel(removeAny(pending, random.nextInt(pending.size())).timer());
    }
    pending.sort(Comparator.comparingLong(Entry::deadline).thenComparingLong(Entry::order));
    for (Entry entry : pending) {
      assertThat(entry.timer().deadline()).isEqualTo(entry.deadline());
      assertSameTimer(heap.poll(), entry);
    }
    assertThat(heap.entries()).isZero();
  }

  // r[verify loop.timer.heap] r[verify loop.timer.cancel-lazy] r[verify loop.timer.delay]
  @Test
  void aHeapAgreesWithASortedSetWhenTheSameFewTimersStartAgainAndAgain() {
    var heap = new TimerHeap();
    var model =
        new TreeSet<Entry>(
            Comparator.comparingLong(Entry::deadline).thenComparingLong(Entry::order));
    var newcomers = new ArrayList<Entry>();
    var idle = new ArrayList<TimerOperation>();
    for (int i = 0; i < 20; i++) {
      idle.add(new TimerOperation(loop));
    }
    var random = new Random(13);
    long now = 0;
    for (long order = 0; order < 100_000; order++) {
      int action = random.nextInt(10);
      if (action < 5 && !idle.isEmpty()) {
        TimerOperation timer = idle.remove(random.nextInt(idle.size()));
        long delay = random.nextInt(100);
        timer.afterNanos(delay).prepare(true);
        if (random.nextBoolean()) {
          heap.add(timer, now + delay);
          model.add(new Entry(now + delay, order, timer));
        } else {
          heap.addNewcomer(timer);
          newcomers.add(new Entry(delay, order, timer));
        }
      } else if (action < 9) {
        boolean fresh = random.nextBoolean();
        var pending = fresh ? newcomers : new ArrayList<>(model);
        if (!pending.isEmpty()) {
          Entry entry = removeAny(pending, random.nextInt(pending.size()));
          model.remove(entry);
          heap.cancel(entry.timer());
          idle.add(entry.timer());
        }
      } else {
        now += random.nextInt(20);
        heap.settle(now);
        for (Entry entry : newcomers) {
          model.add(new Entry(now + entry.deadline(), entry.order(), entry.timer()));
        }
        newcomers.clear();
        while (!model.isEmpty() && model.first().deadline() <= now) {
          Entry first = model.removeFirst();
          assertSameTimer(heap.pollExpired(now), first);
          idle.add(first.timer());
        }
        assertThat(heap.pollExpired(now)).isNull();
      }
      if (heap.pending() != model.size() + newcomers.size()) {
        throw new AssertionError(heap.pending() + " pending at " + order);
      }
    }
  }

  private static Entry removeAny(List<Entry> entries, int index) {
    Entry entry = entries.get(index);
    entries.set(index, entries.getLast());
    entries.removeLast();
    return entry;
  }

  private static void assertSameTimer(@Nullable TimerOperation timer, Entry expected) {
    if (timer != expected.timer()) {
      throw new AssertionError("not the timer of " + expected);
    }
  }

  // r[verify loop.mt.lifetime]
  @Test
  void theOldPlaceOfATimerDoesNotCountForANewStart() {
    var heap = new TimerHeap();
    var timer = new TimerOperation(loop);
    heap.add(timer, 10);
    heap.cancel(timer);
    heap.add(timer, 20);
    assertThat(heap.pending()).isEqualTo(1);
    assertThat(heap.pollExpired(15)).isNull();
    assertThat(heap.pollExpired(20)).isSameAs(timer);
    assertThat(heap.pollExpired(100)).isNull();
  }

  // Regression: when the old entry was moved, it overwrote the index of the restarted timer. A
  // cancel then left the timer among the newcomers, and it fired all the same.
  // r[verify loop.timer.cancel-lazy]
  @Test
  void aTimerThatWasStartedAgainIsCancelledWhereverItsOldEntryGoes() {
    var heap = new TimerHeap();
    TimerOperation first = added(heap, 10);
    TimerOperation restarted = added(heap, 50);
    TimerOperation leaf = added(heap, 60);
    added(heap, 70);
    added(heap, 80);
    added(heap, 20); // moves the restarted timer's entry to the end of the heap
    heap.cancel(restarted);
    restarted.prepare(true);
    heap.addNewcomer(restarted);
    heap.cancel(leaf); // the last entry takes its place
    heap.cancel(restarted);
    heap.settle(0);
    assertThat(heap.pending()).isEqualTo(4);
    assertThat(heap.poll()).isSameAs(first);
  }

  private TimerOperation added(TimerHeap heap, long deadline) {
    var timer = new TimerOperation(loop);
    heap.add(timer, deadline);
    return timer;
  }

  @Test
  void deadlinesCompareByDifference() {
    var heap = new TimerHeap();
    var late = new TimerOperation(loop);
    var early = new TimerOperation(loop);
    heap.add(late, Long.MIN_VALUE + 5); // after the clock has wrapped
    heap.add(early, Long.MAX_VALUE - 5);
    assertThat(heap.poll()).isSameAs(early);
    assertThat(heap.poll()).isSameAs(late);
  }
}
