package dev.belfry.loop;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Timers in the order of their deadlines, and of their starts where those are equal: a heap with
 * four children to a node, in three arrays, so that sifting compares plain numbers that lie
 * together.
 *
 * <p>The loop thread starts and cancels many timers in one turn, and nobody asks when they are due
 * before the turn is over. So a delay that is started there is first put beside the heap, and
 * counts from when the loop next looks at the clock, once for all of them: later than its start, so
 * nothing fires early, and by no more than a turn. One that is cancelled before that never enters.
 *
 * <p>A timer that is cancelled soon mostly stands where it was put, at the lower edge of the heap,
 * and is taken out at once. Any other leaves its entry behind: an entry counts only while its timer
 * still has the entry's number. Entries that do not count are dropped when they reach the top, and
 * all at once when they are more than half of the heap; so cancelling costs next to nothing and
 * memory stays bounded.
 */
final class TimerHeap {
  private static final int CHILDREN = 4;
  private static final int SWEEP_FROM = 64;

  private long[] deadlines = new long[64];
  private long[] numbers = new long[64];
  private @Nullable TimerOperation[] timers = new @Nullable TimerOperation[64];
  private int size;

  /** Entries that no longer count. */
  private int cancelled;

  private long lastNumber;

  /** Timers whose delay does not count yet; the index of each is the complement of its place. */
  private @Nullable TimerOperation[] newcomers = new @Nullable TimerOperation[64];

  private int newcomerCount;

  /** How many timers are pending. */
  int pending() {
    return size - cancelled + newcomerCount;
  }

  /** How many entries there are, counting those of cancelled timers. */
  int entries() {
    return size + newcomerCount;
  }

  /** Adds a timer, which gets a number that no other timer has. */
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

  /** Makes the delays of all newcomers count from a time that is not before their starts. */
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

  /** Takes a timer out; its entry may stay for a while. */
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

  /**
   * The earliest deadline of those that are settled, or {@code Long.MAX_VALUE} if there is no
   * timer.
   */
  long earliest() {
    dropCancelled();
    return size == 0 ? Long.MAX_VALUE : deadlines[0];
  }

  /** Takes out the earliest timer if its deadline is not after this time; null if there is none. */
  @Nullable TimerOperation pollExpired(long now) {
    dropCancelled();
    if (size == 0 || deadlines[0] - now > 0) {
      return null;
    }
    return poll();
  }

  /** Takes out the earliest timer of those that are settled; null if there is none. */
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

  /** Takes out an entry that has none below it. */
  private void removeLeaf(int index) {
    int last = --size;
    TimerOperation moved = timers[last];
    timers[last] = null;
    if (index < last && moved != null) {
      long number = numbers[last];
      int place = siftUp(index, deadlines[last], number, moved);
      if (moved.number == number) { // else it was started again since, and stands elsewhere
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

  /** Puts an entry where it belongs, from a free place up; says where that is. */
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

  /** Adds a sign where a branch would be predicted wrong every other time. */
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

  /** 1 if it is, else 0. */
  private int isBefore(int entry, int other) {
    return (int) (order(deadlines[entry], numbers[entry], other) >>> (Long.SIZE - 1));
  }

  /** Negative if something comes before an entry. By difference, because the clock may wrap. */
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
