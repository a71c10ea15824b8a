package dev.belfry.loop;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The requests that the kernel has, found by token when they complete. */
final class UringTable extends SlotTable {
  private @Nullable UringRequest[] requests = new @Nullable UringRequest[ROOM];
  private int size;

  UringTable() {
    super(1, 0); // slot 0 stays unused, so that no token is zero
  }

  /** Adds a request; its token is not zero. */
  long add(UringRequest request) {
    int slot = takeSlot();
    if (slot == requests.length) {
      requests = Arrays.copyOf(requests, slot * 2);
    }
    requests[slot] = request;
    request.slot = slot;
    request.withdrawn = false;
    size++;
    return token(slot);
  }

  /** Removes a request. */
  void remove(UringRequest request) {
    int slot = request.slot;
    requests[slot] = null;
    request.leavesKernel();
    giveBack(slot);
    size--;
  }

  long token(UringRequest request) {
    return token(request.slot);
  }

  @Nullable UringRequest find(long token) {
    int slot = slotOf(token);
    return slot == NONE ? null : requests[slot];
  }

  /** The number of requests that the kernel has. */
  int size() {
    return size;
  }

  @Nullable UringRequest at(int slot) {
    return requests[slot];
  }
}
