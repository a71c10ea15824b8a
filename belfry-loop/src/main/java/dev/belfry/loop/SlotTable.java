package dev.belfry.loop;

import java.util.Arrays;

/**
 * Slots to give out, and tokens for the kernel to keep: 64 bits, the slot in the upper half, in the
 * lower half how often it was given out. So what the kernel says too late finds nobody, whoever has
 * the slot by then. What stands in the slots is kept by the tables that extend this.
 */
// r[impl loop.epoll.data]
abstract sealed class SlotTable permits HandleTable, UringTable {
  /** How many slots there is room for at first. */
  static final int ROOM = 64;

  /** What {@link #slotOf} says of a token that has had its time. */
  static final int NONE = -1;

  private int[] generations = new int[ROOM];
  private int[] free = new int[ROOM];
  private int freeCount;

  /** The slots below this were given out. */
  private int used;

  /** A table of slots from a first one on, each of them given out this often already. */
  SlotTable(int first, int generation) {
    used = first;
    Arrays.fill(generations, generation);
  }

  /** Gives a slot out: one that came back, or the next. */
  final int takeSlot() {
    if (freeCount > 0) {
      return free[--freeCount];
    }
    if (used == generations.length) {
      generations = Arrays.copyOf(generations, used * 2);
    }
    return used++;
  }

  /** Takes a slot back; from now on its token finds nobody. */
  final void giveBack(int slot) {
    if (++generations[slot] != 0) { // else all are used up, and the slot with them
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

  /** How many slots there are to look at. */
  final int slots() {
    return used;
  }
}
