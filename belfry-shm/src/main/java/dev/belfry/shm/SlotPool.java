package dev.belfry.shm;

import java.util.function.BooleanSupplier;

/**
 * A pool of slots, as its owner sees it. Only the owner allocates slots; the receivers of its
 * messages give them back. One thread at a time.
 *
 * <p>Both sides write the bitmap, so each access fetches its cache line from the other processor.
 * In the padded placement the owner therefore takes all free slots at once and keeps those it does
 * not need yet. It records them in the pool for inspection, but relies only on its own memory. In
 * format 1 the bitmap shows exactly the slots in flight.
 */
// r[impl shm.segment.slot-pools]
// r[impl shm.segment.slot-ownership]
final class SlotPool implements SlotSource {
  private final Memory memory;
  private final boolean padded;
  private final long bitmap;
  private final long keptBitmap;
  private final int words;
  private final long lastWord;
  private final long slots;
  private final long stride;

  /** Slots taken from the bitmap and not in use; always empty between calls in format 1. */
  private final long[] kept;

  /** How often each slot was allocated; read from the slots once, at the start. */
  private final int[] generations;

  SlotPool(Segment segment, int owner) {
    SegmentLayout layout = segment.layout();
    this.memory = segment.memory();
    this.padded = layout.isPadded();
    this.bitmap = memory.address(layout.pool(owner), layout.poolBytes());
    this.keptBitmap = padded ? memory.address(layout.keptSlots(owner), 0) : 0;
    this.words = layout.bitmapWords();
    this.lastWord = layout.allFree(words - 1);
    this.slots = memory.address(layout.slot(owner, 0), 0);
    this.stride = layout.slotStride();
    this.kept = new long[words];
    this.generations = new int[layout.config().slotsPerGuest()];
    for (int slot = 0; slot < generations.length; slot++) {
      generations[slot] = memory.getInt(address(slot));
    }
  }

  // r[impl shm.slot.allocate]
  @Override
  public int allocate() {
    int i = keptWord();
    if (i < 0) {
      takeFree();
      i = keptWord();
    }
    if (i < 0) {
      return -1;
    }
    int slot = 64 * i + Long.numberOfTrailingZeros(kept[i]);
    setKept(i, kept[i] & (kept[i] - 1));
    generations[slot]++;
    return slot;
  }

  /** The first word with kept slots, or -1. */
  private int keptWord() {
    for (int i = 0; i < words; i++) {
      if (kept[i] != 0) {
        return i;
      }
    }
    return -1;
  }

  /** Takes all free slots, or in format 1 the first one. */
  private void takeFree() {
    for (int i = 0; i < words; i++) {
      long address = bitmap + 8L * i;
      long word = memory.getLongAcquire(address);
      while ((word & existing(i)) != 0) {
        long free = word & existing(i);
        long taken = padded ? free : Long.lowestOneBit(free);
        if (memory.compareAndSetLong(address, word, word & ~taken)) {
          setKept(i, taken);
          if (!padded) {
            return;
          }
          break;
        }
        word = memory.getLongAcquire(address);
      }
    }
  }

  private void setKept(int i, long slots) {
    kept[i] = slots;
    if (padded) {
      memory.setLong(keptBitmap + 8L * i, slots);
    }
  }

  /** The bits that stand for slots; other processes may write anything into the rest. */
  private long existing(int word) {
    return word == words - 1 ? lastWord : -1L;
  }

  @Override
  public long address(int slot) {
    return slots + slot * stride;
  }

  @Override
  public int generation(int slot) {
    return generations[slot];
  }

  /** The number of words in the bitmap. */
  int words() {
    return words;
  }

  /** The slots of a word that are in use. */
  long inUse(int word) {
    return existing(word) & ~(memory.getLongAcquire(bitmap + 8L * word) | kept[word]);
  }

  boolean isFree(int slot) {
    long word = memory.getLongAcquire(bitmap + 8L * (slot / 64)) | kept[slot / 64];
    return ((word >>> slot) & 1) != 0;
  }

  @Override
  public boolean hasFree() {
    for (int i = 0; i < words; i++) {
      if (((memory.getLongAcquire(bitmap + 8L * i) & existing(i)) | kept[i]) != 0) {
        return true;
      }
    }
    return false;
  }

  /** A single receiver gives the slots back, so all waiters sleep on its tail. */
  // r[impl shm.wakeup.slot-wait]
  @Override
  public Awaitable shortage(Link link, Ring ring, BooleanSupplier instead) {
    return new TailWait(link, ring) {
      @Override
      public boolean isReady() {
        return hasFree() || instead.getAsBoolean();
      }
    };
  }

  void free(int slot) {
    memory.getAndOrLongRelease(bitmap + 8L * (slot / 64), 1L << slot);
  }
}
