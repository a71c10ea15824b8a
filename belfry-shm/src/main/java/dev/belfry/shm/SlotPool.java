package dev.belfry.shm;

import java.lang.foreign.MemorySegment;

/**
 * A pool of slots, as its owner sees it: only the owner takes slots, the receivers of its messages
 * give them back. For any number of threads of the owner.
 */
// r[impl shm.segment.slot-pools]
// r[impl shm.segment.slot-ownership]
final class SlotPool implements SlotSource {
  private final Memory memory;
  private final long bitmap;
  private final int words;
  private final long lastWord;
  private final long slots;
  private final long stride;

  SlotPool(Segment segment, int owner) {
    SegmentLayout layout = segment.layout();
    this.memory = segment.memory();
    this.bitmap = memory.address(layout.pool(owner), layout.poolBytes());
    this.words = layout.bitmapWords();
    this.lastWord = layout.allFree(words - 1);
    this.slots = memory.address(layout.slot(owner, 0), 0);
    this.stride = layout.slotStride();
  }

  // r[impl shm.slot.allocate]
  @Override
  public int allocate() {
    for (int i = 0; i < words; i++) {
      long address = bitmap + 8L * i;
      long word = memory.getLongAcquire(address);
      while ((word & existing(i)) != 0) {
        int bit = Long.numberOfTrailingZeros(word & existing(i));
        if (memory.compareAndSetLong(address, word, word & ~(1L << bit))) {
          int slot = 64 * i + bit;
          // Plain is enough: the slot is ours, and the descriptor that names it is published later.
          long generation = address(slot);
          memory.setInt(generation, memory.getInt(generation) + 1);
          return slot;
        }
        word = memory.getLongAcquire(address);
      }
    }
    return -1;
  }

  /** The bits that stand for slots; others can write whatever they like into the rest. */
  private long existing(int word) {
    return word == words - 1 ? lastWord : -1L;
  }

  @Override
  public long address(int slot) {
    return slots + slot * stride;
  }

  boolean isFree(int slot) {
    long word = memory.getLongAcquire(bitmap + 8L * (slot / 64));
    return ((word >>> slot) & 1) != 0;
  }

  @Override
  public boolean hasFree() {
    for (int i = 0; i < words; i++) {
      if ((memory.getLongAcquire(bitmap + 8L * i) & existing(i)) != 0) {
        return true;
      }
    }
    return false;
  }

  /** One receiver gives the slots back, and all sleep on its tail. */
  // r[impl shm.wakeup.slot-wait]
  @Override
  public Awaitable shortage(Link link, Ring ring) {
    return new Awaitable() {
      @Override
      public boolean isReady() {
        return hasFree();
      }

      @Override
      public boolean isOver() {
        return link.isOver();
      }

      @Override
      public MemorySegment word() {
        return ring.spaceWord();
      }

      @Override
      public int arm() {
        return ring.armSpace();
      }
    };
  }

  void free(int slot) {
    memory.getAndOrLongRelease(bitmap + 8L * (slot / 64), 1L << slot);
  }
}
