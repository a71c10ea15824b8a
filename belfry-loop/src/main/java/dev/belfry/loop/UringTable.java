package dev.belfry.loop;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The requests that the kernel has. It keeps a token of each, made like those of {@link
 * HandleTable} of a slot and how often that was given out, so that what comes late finds nobody.
 */
final class UringTable {
  private @Nullable UringRequest[] requests = new @Nullable UringRequest[64];
  private int[] generations = new int[64];
  private int[] free = new int[64];
  private int freeCount;
  private int used;
  private int size;

  /** Takes a request in; its token is not zero. */
  long add(UringRequest request) {
    int slot = freeCount > 0 ? free[--freeCount] : newSlot();
    requests[slot] = request;
    request.slot = slot;
    request.withdrawn = false;
    size++;
    return token(request);
  }

  /** Lets a request go. */
  void remove(UringRequest request) {
    int slot = request.slot;
    requests[slot] = null;
    request.leavesKernel();
    generations[slot]++;
    size--;
    if (freeCount == free.length) {
      free = Arrays.copyOf(free, freeCount * 2);
    }
    free[freeCount++] = slot;
  }

  long token(UringRequest request) {
    int slot = request.slot;
    return ((long) (slot + 1) << Integer.SIZE) | Integer.toUnsignedLong(generations[slot]);
  }

  @Nullable UringRequest find(long token) {
    int slot = (int) (token >>> Integer.SIZE) - 1;
    boolean known = slot >= 0 && slot < used && generations[slot] == (int) token;
    return known ? requests[slot] : null;
  }

  /** How many the kernel has. */
  int size() {
    return size;
  }

  /** How many slots there are to look at. */
  int slots() {
    return used;
  }

  @Nullable UringRequest at(int slot) {
    return requests[slot];
  }

  private int newSlot() {
    if (used == requests.length) {
      requests = Arrays.copyOf(requests, used * 2);
      generations = Arrays.copyOf(generations, used * 2);
    }
    return used++;
  }
}
