package dev.belfry.loop;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds the handle that an event is about. The kernel keeps a token of 64 bits: the slot in the
 * upper half, in the lower one how often the slot was given out. So an event that was fetched
 * before its handle was closed finds nobody, whoever has the slot or the descriptor's number now.
 */
// r[impl loop.epoll.data]
final class HandleTable {
  private @Nullable Handle[] handles = new @Nullable Handle[64];
  private int[] generations = new int[64];
  private int[] free = new int[64];
  private int freeCount;
  private int used;

  HandleTable() {
    this(0);
  }

  /** A table whose slots were given out so often already. */
  HandleTable(int generation) {
    Arrays.fill(generations, generation);
  }

  long add(Handle handle) {
    int slot = freeCount > 0 ? free[--freeCount] : newSlot();
    handles[slot] = handle;
    handle.slot = slot;
    return ((long) slot << Integer.SIZE) | Integer.toUnsignedLong(generations[slot]);
  }

  void remove(Handle handle) {
    int slot = handle.slot;
    handle.slot = Handle.NOT_REGISTERED;
    handles[slot] = null;
    if (++generations[slot] != 0) { // else all are used up, and the slot with them
      if (freeCount == free.length) {
        free = Arrays.copyOf(free, freeCount * 2);
      }
      free[freeCount++] = slot;
    }
  }

  @Nullable Handle find(long token) {
    int slot = (int) (token >>> Integer.SIZE);
    return slot >= 0 && slot < used && generations[slot] == (int) token ? handles[slot] : null;
  }

  void forEach(Consumer<Handle> action) {
    for (int slot = 0; slot < used; slot++) {
      Handle handle = handles[slot];
      if (handle != null) {
        action.accept(handle);
      }
    }
  }

  private int newSlot() {
    if (used == handles.length) {
      handles = Arrays.copyOf(handles, used * 2);
      generations = Arrays.copyOf(generations, used * 2);
    }
    return used++;
  }
}
