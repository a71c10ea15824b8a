package dev.belfry.workers;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The calls that a worker has, by their ids. Not for several threads at once. */
final class CallTable {
  private final @Nullable Call[] calls;
  private final long[] ids;
  private final boolean[] sent;
  private final int[] free;
  private final int capacity;
  private int freeCount;
  private long rounds;

  CallTable(int capacity) {
    this.capacity = capacity;
    this.calls = new @Nullable Call[capacity];
    this.ids = new long[capacity];
    this.sent = new boolean[capacity];
    this.free = new int[capacity];
    for (int i = 0; i < capacity; i++) {
      free[i] = capacity - 1 - i;
    }
    this.freeCount = capacity;
  }

  boolean isFull() {
    return freeCount == 0;
  }

  int size() {
    return capacity - freeCount;
  }

  /** Puts a call in; its id is used again only after all others were, and is never 0. */
  long add(Call call) {
    int index = free[--freeCount];
    rounds = rounds == 0xffff_ffffL / capacity - 1 ? 1 : rounds + 1;
    long id = rounds * capacity + index;
    calls[index] = call;
    ids[index] = id;
    sent[index] = false;
    return id;
  }

  boolean contains(long id) {
    int index = (int) (id % capacity);
    return calls[index] != null && ids[index] == id;
  }

  /** Marks a call as sent; false if it is not there any more. */
  boolean markSent(long id) {
    boolean there = contains(id);
    if (there) {
      sent[(int) (id % capacity)] = true;
    }
    return there;
  }

  /** Takes a call out; null if it is not there any more. */
  @Nullable Call remove(long id) {
    if (!contains(id)) {
      return null;
    }
    int index = (int) (id % capacity);
    Call call = calls[index];
    calls[index] = null;
    free[freeCount++] = index;
    return call;
  }

  /** Takes out those that were sent and of which something holds. */
  List<Call> removeSent(Predicate<Call> condition) {
    var removed = new ArrayList<Call>();
    for (int i = 0; i < capacity; i++) {
      Call call = calls[i];
      if (call != null && sent[i] && condition.test(call)) {
        removed.add(call);
        remove(ids[i]);
      }
    }
    return removed;
  }

  /** Any call whose caller waits for it, or null. */
  @Nullable Call anyWaiting() {
    if (freeCount == capacity) {
      return null;
    }
    for (Call call : calls) {
      if (call != null && !call.isDone()) {
        return call;
      }
    }
    return null;
  }
}
