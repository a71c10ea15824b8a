package dev.belfry.loop;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Finds the handle of an event, unless the handle was closed after the event was fetched. */
final class HandleTable extends SlotTable {
  private @Nullable Handle[] handles = new @Nullable Handle[ROOM];

  HandleTable() {
    this(0);
  }

  /** A table whose slots start at this generation. */
  HandleTable(int generation) {
    super(0, generation);
  }

  long add(Handle handle) {
    int slot = takeSlot();
    if (slot == handles.length) {
      handles = Arrays.copyOf(handles, slot * 2);
    }
    handles[slot] = handle;
    handle.slot = slot;
    return token(slot);
  }

  void remove(Handle handle) {
    int slot = handle.slot;
    handle.slot = Handle.NOT_REGISTERED;
    handles[slot] = null;
    giveBack(slot);
  }

  @Nullable Handle find(long token) {
    int slot = slotOf(token);
    return slot == NONE ? null : handles[slot];
  }

  void forEach(Consumer<Handle> action) {
    for (int slot = 0; slot < slots(); slot++) {
      Handle handle = handles[slot];
      if (handle != null) {
        action.accept(handle);
      }
    }
  }
}
