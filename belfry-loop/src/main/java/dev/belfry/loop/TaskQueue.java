package dev.belfry.loop;

import org.jspecify.annotations.Nullable;

/** A queue of tasks for the loop thread: a ring buffer that grows and never shrinks. */
final class TaskQueue {
  private @Nullable Task[] ring = new @Nullable Task[256];

  /** Counts tasks taken, and {@link #tail} those added; the index is modulo the ring's length. */
  private int head;

  private int tail;

  boolean isEmpty() {
    return head == tail;
  }

  int size() {
    return tail - head;
  }

  void add(Task task) {
    if (tail - head == ring.length) {
      grow();
    }
    ring[tail++ & (ring.length - 1)] = task;
  }

  @Nullable Task poll() {
    if (head == tail) {
      return null;
    }
    int index = head++ & (ring.length - 1);
    Task task = ring[index];
    ring[index] = null;
    return task;
  }

  private void grow() {
    var larger = new @Nullable Task[ring.length * 2];
    int size = size();
    for (int i = 0; i < size; i++) {
      larger[i] = ring[(head + i) & (ring.length - 1)];
    }
    ring = larger;
    head = 0;
    tail = size;
  }
}
