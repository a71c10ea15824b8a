package dev.belfry.workers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The calls that a worker has, by their ids. Except for {@link #capacity}, callers must hold its
 * lock.
 */
final class CallTable {
  /** The width of a message id. */
  private static final int ID_BITS = 32;

  private final @Nullable Call[] calls;
  private final long[] ids;

  /** How many calls had been added before each. */
  private final long[] order;

  private final boolean[] noticeWanted;
  private final int[] free;
  private final int capacity;

  /** The low bits of an id are the call's index, the others the round in which it was added. */
  private final int indexBits;

  private int freeCount;
  private int noticesWanted;
  private long round;
  private long added;

  CallTable(int capacity) {
    this.capacity = capacity;
    this.indexBits = Integer.SIZE - Integer.numberOfLeadingZeros(capacity - 1);
    this.calls = new @Nullable Call[capacity];
    this.ids = new long[capacity];
    this.order = new long[capacity];
    this.noticeWanted = new boolean[capacity];
    this.free = new int[capacity];
    for (int i = 0; i < capacity; i++) {
      free[i] = capacity - 1 - i;
    }
    this.freeCount = capacity;
  }

  /** The most calls it can hold. */
  int capacity() {
    return capacity;
  }

  boolean isFull() {
    return freeCount == 0;
  }

  int size() {
    return capacity - freeCount;
  }

  /** Adds a call. Its id is never 0, and recurs only after hundreds of thousands of other calls. */
  long add(Call call) {
    int index = free[--freeCount];
    round++;
    if (round >>> (ID_BITS - indexBits) != 0) {
      round = 1;
    }
    long id = round << indexBits | index;
    calls[index] = call;
    ids[index] = id;
    order[index] = added++;
    return id;
  }

  boolean contains(long id) {
    int index = index(id);
    return index < capacity && calls[index] != null && ids[index] == id;
  }

  private int index(long id) {
    return (int) id & ((1 << indexBits) - 1);
  }

  /** Removes a call; null if it is no longer there. */
  @Nullable Call remove(long id) {
    if (!contains(id)) {
      return null;
    }
    int index = index(id);
    Call call = calls[index];
    calls[index] = null;
    if (noticeWanted[index]) {
      noticeWanted[index] = false;
      noticesWanted--;
    }
    free[freeCount++] = index;
    return call;
  }

  /** Removes the calls that meet a condition. */
  List<Call> removeIf(Predicate<Call> condition) {
    var removed = new ArrayList<Call>();
    for (int i = 0; i < capacity; i++) {
      Call call = calls[i];
      if (call != null && condition.test(call)) {
        removed.add(call);
        remove(ids[i]);
      }
    }
    return removed;
  }

  /** Requests a notice when a call ends, if it is in the table. */
  void wantNotice(long id) {
    if (contains(id) && !noticeWanted[index(id)]) {
      noticeWanted[index(id)] = true;
      noticesWanted++;
    }
  }

  /** Whether a notice is wanted for any call. */
  boolean isAnyNoticeWanted() {
    return noticesWanted > 0;
  }

  /** A call that a platform thread may be waiting for, or null. */
  @Nullable Call anyAwaited() {
    for (int i = 0, left = size(); left > 0; i++) {
      Call call = calls[i];
      if (call != null) {
        if (call.isAwaited()) {
          return call;
        }
        left--;
      }
    }
    return null;
  }

  /** Whether any call added before this one has not ended. */
  boolean isAnyWantedBefore(long id) {
    long before = order[index(id)];
    for (int i = 0; i < capacity; i++) {
      Call call = calls[i];
      if (call != null && order[i] < before && !call.isDone()) {
        return true;
      }
    }
    return false;
  }

  /** The calls whose deadline has passed, but which have not ended. */
  List<Call> overdue() {
    return Arrays.stream(calls)
        .filter(Objects::nonNull)
        .filter(call -> !call.isDone() && call.isOverdue())
        .toList();
  }
}
