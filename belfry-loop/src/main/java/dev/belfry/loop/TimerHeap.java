package dev.belfry.loop;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Timers ordered by deadline, and by start where deadlines are equal: a four-ary heap in three
 * parallel arrays, so that sifting compares adjacent primitive values.
 *
 * <p>The loop thread starts and cancels many timers per turn, and their deadlines are not needed
 * before the turn is over. So a delay started there is first kept beside the heap, and counts from
 * when the loop next reads the clock, once for all of them. That is later than its start, so it
 * cannot fire early, but by no more than a turn. A timer cancelled before that never enters the
 * heap.
 *
 * <p>A timer cancelled soon after its start is mostly still where it was inserted, in a leaf, and
 * is removed at once. Any other cancelled timer leaves its entry behind: an entry counts only while
 * its timer still has the entry's number. Stale entries are dropped when they reach the top, and
 * all at once when they make up more than half of the heap. So cancelling costs next to nothing and
 * memory stays bounded.
 */
final class TimerHeap {
  private static final int CHILDREN = 4;
  private static final int SWEEP_FROM = 64;

  private long[] deadlines = new long[64];
  private long[] numbers = new long[64];
  private @Nullable TimerOperation[] timers = new @Nullable TimerOperation[64];
  private int size;

  /** The number of stale entries. */
  private int cancelled;

  private long lastNumber;

  /** Timers whose delay does not count yet; the index of each is the complement of its position. */
  private @Nullable TimerOperation[] newcomers = new @Nullable TimerOperation[64];

  private int newcomerCount;

  /** The number of pending timers. */
  int pending() {
    return size - cancelled + newcomerCount;
  }

  /** The number of entries, including those of cancelled timers. */
  int entries() {
    return size + newcomerCount;
  }

  /** Adds a timer and gives it a unique number. */
  // r[impl loop.timer.heap]
  void add(TimerOperation timer, long deadline) {
    timer.number = ++lastNumber;
    insert(timer, deadline);
  }

  /** Adds a timer whose delay counts from the next {@link #settle}. */
  void addNewcomer(TimerOperation timer) {
    if (newcomerCount == newcomers.length) {
      newcomers = Arrays.copyOf(newcomers, newcomerCount * 2);
    }
    timer.number = ++lastNumber;
    timer.index = ~newcomerCount;
    newcomers[newcomerCount++] = timer;
  }

  /** Whether there are timers that wait for {@link #settle}. */
  boolean hasNewcomers() {
    return newcomerCount > 0;
  }

  /** Counts the delays of all newcomers from the given time, which is not before their starts. */
  // r[impl loop.timer.delay]
  void settle(long now) {
    for (int i = 0; i < newcomerCount; i++) {
      TimerOperation timer = newcomers[i];
      newcomers[i] = null;
      if (timer != null) {
        insert(timer, timer.settle(now));
      }
    }
    newcomerCount = 0;
  }

  private void insert(TimerOperation timer, long deadline) {
    if (size == deadlines.length) {
      deadlines = Arrays.copyOf(deadlines, size * 2);
      numbers = Arrays.copyOf(numbers, size * 2);
      timers = Arrays.copyOf(timers, size * 2);
    }
    timer.index = siftUp(size++, deadline, timer.number, timer);
  }

  /** Removes a timer; its entry may stay for a while. */
  // r[impl loop.timer.cancel-lazy]
  void cancel(TimerOperation timer) {
    int index = timer.index;
    if (index < 0) {
      removeNewcomer(~index);
      timer.number = TimerOperation.NOT_PENDING;
      return;
    }
    boolean atTheEdge = index * CHILDREN + 1 >= size;
    if (atTheEdge && index < size && numbers[index] == timer.number) {
      removeLeaf(index);
      timer.number = TimerOperation.NOT_PENDING;
      return;
    }
    timer.number = TimerOperation.NOT_PENDING;
    cancelled++;
    if (size >= SWEEP_FROM && cancelled > size / 2) {
      sweep();
    }
  }

  /** The earliest deadline of the settled timers, or {@code Long.MAX_VALUE} if there is none. */
  long earliest() {
    dropCancelled();
    return size == 0 ? Long.MAX_VALUE : deadlines[0];
  }

  /** Removes and returns the earliest timer if its deadline has come; null if there is none. */
  @Nullable TimerOperation pollExpired(long now) {
    dropCancelled();
    if (size == 0 || deadlines[0] - now > 0) {
      return null;
    }
    return poll();
  }

  /** Removes and returns the earliest settled timer; null if there is none. */
  @Nullable TimerOperation poll() {
    dropCancelled();
    TimerOperation timer = timers[0];
    if (timer != null) {
      timer.number = TimerOperation.NOT_PENDING;
      removeTop();
    }
    return timer;
  }

  private void removeNewcomer(int place) {
    int last = --newcomerCount;
    TimerOperation moved = newcomers[last];
    newcomers[last] = null;
    if (place < last && moved != null) {
      newcomers[place] = moved;
      moved.index = ~place;
    }
  }

  private void dropCancelled() {
    while (cancelled > 0 && size > 0 && !counts(0)) {
      cancelled--;
      removeTop();
    }
  }

  private boolean counts(int index) {
    TimerOperation timer = timers[index];
    return timer != null && timer.number == numbers[index];
  }

  private void removeTop() {
    int last = --size;
    TimerOperation timer = timers[last];
    timers[last] = null;
    if (last > 0 && timer != null) {
      siftDown(0, deadlines[last], numbers[last], timer);
    }
  }

  /** Removes an entry without children. */
  private void removeLeaf(int index) {
    int last = --size;
    TimerOperation moved = timers[last];
    timers[last] = null;
    if (index < last && moved != null) {
      long number = numbers[last];
      int place = siftUp(index, deadlines[last], number, moved);
      if (moved.number == number) { // else it was restarted since, with an entry elsewhere
        moved.index = place;
      }
    }
  }

  private void sweep() {
    int kept = 0;
    for (int i = 0; i < size; i++) {
      if (counts(i)) {
        deadlines[kept] = deadlines[i];
        numbers[kept] = numbers[i];
        timers[kept++] = timers[i];
      }
    }
    Arrays.fill(timers, kept, size, null);
    size = kept;
    cancelled = 0;
    for (int i = (kept - 2) / CHILDREN; i >= 0 && kept > 1; i--) {
      TimerOperation timer = timers[i];
      if (timer != null) {
        siftDown(i, deadlines[i], numbers[i], timer);
      }
    }
  }

  /** Inserts an entry, sifting it up from a free position; returns its final position. */
  private int siftUp(int from, long deadline, long number, TimerOperation timer) {
    int hole = from;
    while (hole > 0) {
      int parent = (hole - 1) / CHILDREN;
      if (order(deadline, number, parent) > 0) {
        break;
      }
      move(parent, hole);
      hole = parent;
    }
    put(hole, deadline, number, timer);
    return hole;
  }

  private void siftDown(int from, long deadline, long number, TimerOperation timer) {
    int hole = from;
    int child;
    while ((child = hole * CHILDREN + 1) < size) {
      int least = child + CHILDREN <= size ? leastOfFour(child) : leastOf(child, size);
      if (order(deadline, number, least) < 0) {
        break;
      }
      move(least, hole);
      hole = least;
    }
    put(hole, deadline, number, timer);
  }

  /** Branch-free, because a branch would be mispredicted every other time. */
  private int leastOfFour(int child) {
    int left = child + isBefore(child + 1, child);
    int right = child + 2 + isBefore(child + 3, child + 2);
    return left + (right - left) * isBefore(right, left);
  }

  private int leastOf(int child, int end) {
    int least = child;
    for (int other = child + 1; other < end; other++) {
      least += (other - least) * isBefore(other, least);
    }
    return least;
  }

  /** 1 if the entry comes before the other, otherwise 0. */
  private int isBefore(int entry, int other) {
    return (int) (order(deadlines[entry], numbers[entry], other) >>> (Long.SIZE - 1));
  }

  /** Negative if the arguments come before the entry. By difference, because the clock may wrap. */
  private long order(long deadline, long number, int entry) {
    long order = deadline - deadlines[entry];
    return order != 0 ? order : number - numbers[entry];
  }

  private void move(int from, int to) {
    put(to, deadlines[from], numbers[from], timers[from]);
  }

  private void put(int index, long deadline, long number, @Nullable TimerOperation timer) {
    deadlines[index] = deadline;
    numbers[index] = number;
    timers[index] = timer;
  }
}
