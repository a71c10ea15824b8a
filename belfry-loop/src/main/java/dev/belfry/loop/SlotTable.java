package dev.belfry.loop;

import java.util.Arrays;

/**
 * Slots and the tokens that the kernel keeps for them: 64 bits, the slot in the upper half, its
 * generation in the lower. So a stale token from the kernel finds nothing, even if the slot is in
 * use again. Subclasses hold the contents of the slots.
 */
// r[impl loop.epoll.data]
abstract sealed class SlotTable permits HandleTable, UringTable {
  /** The initial number of slots. */
  static final int ROOM = 64;

  /** The result of {@link #slotOf} for a stale token. */
  static final int NONE = -1;

  private int[] generations = new int[ROOM];
  private int[] free = new int[ROOM];
  private int freeCount;

  /** The slots below this have been handed out. */
  private int used;

  /** A table whose slots start at this number and generation. */
  SlotTable(int first, int generation) {
    used = first;
    Arrays.fill(generations, generation);
  }

  /** Hands out a slot: a free one, or the next. */
  final int takeSlot() {
    if (freeCount > 0) {
      return free[--freeCount];
    }
    if (used == generations.length) {
      generations = Arrays.copyOf(generations, used * 2);
    }
    return used++;
  }

  /** Frees a slot; its current token becomes stale. */
  final void giveBack(int slot) {
    if (++generations[slot] != 0) { // else its generations are used up, and the slot with them
      if (freeCount == free.length) {
        free = Arrays.copyOf(free, freeCount * 2);
      }
      free[freeCount++] = slot;
    }
  }

  final long token(int slot) {
    return ((long) slot << Integer.SIZE) | Integer.toUnsignedLong(generations[slot]);
  }

  final int slotOf(long token) {
    int slot = (int) (token >>> Integer.SIZE);
    return slot >= 0 && slot < used && generations[slot] == (int) token ? slot : NONE;
  }

  /** The upper bound of the slots in use. */
  final int slots() {
    return used;
  }
}
