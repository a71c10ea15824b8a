package dev.belfry.shm;

import dev.belfry.linux.Futex;
import dev.belfry.linux.Sys;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * One ring: where its words are, and when a sleeper at its other end has to be woken. The sender
 * writes the head, the receiver the tail. Both are free-running 32-bit counters whose lower bits
 * are the index in the ring. The ring is full when all but one of its descriptors are in use.
 *
 * <p><b>Why no wake-up is lost.</b> Each side puts a full fence between a store and a load. The
 * sleeper sets its flag (in format 1, has stored its own counter), fences, and tests its condition
 * again. The waker stores its counter, fences, and tests whether the other side sleeps. At least
 * one of them sees the store of the other. Finally the kernel compares the word once more before it
 * puts a thread to sleep.
 *
 * <ul>
 *   <li>In the padded placement each sleeper has a flag, which is also the word it sleeps on. The
 *       sleeper sets it to {@link #ASLEEP}, the waker resets it. A side that sleeps in an event
 *       loop, where only a descriptor wakes it, sets {@link #AT_BELL} instead and is rung for. A
 *       side that never sleeps sets {@link #SPINS} and spares its peer even the fence. Several
 *       threads that wait for space or for a slot share one flag, so one of them may sleep although
 *       there is room: if it is woken before the kernel has put it to sleep, and another thread has
 *       set the flag again by then. The next message that the peer reads wakes it; failing that, it
 *       polls after 50 ms at most.
 *   <li>Format 1 has no flags. A receiver can sleep only if the ring was empty, which the sender
 *       sees by the tail. A sender can sleep only if the ring was full, which the receiver sees by
 *       the head, or if it had no slot; so giving back a slot always wakes. Foreign peers may sleep
 *       only on their bell, and may test without a fence; so every publication rings.
 * </ul>
 */
// r[impl shm.ring.capacity]
// r[impl shm.placement.padded]
final class Ring {
  /** The value of a flag whose owner is not asleep. */
  static final int AWAKE = 0;

  static final int ASLEEP = 1;
  static final int SPINS = 2;
  static final int AT_BELL = 3;

  private static final int MARK = 0x8000;
  private static final int LAP_BITS = 0x7fff;

  private final Sys sys;
  private final Memory memory;
  private final boolean padded;
  private final long head;
  private final long tail;
  private final long descriptors;
  private final int descriptorBytes;
  private final long pockets;
  private final int pocketBytes;
  private final int pocketMask;
  private final int mask;
  private final int lapShift;
  private final long dataFlag;
  private final long spaceFlag;
  private final MemorySegment dataWord;
  private final MemorySegment spaceWord;

  /** Wakes a peer that does not sleep on a futex; null if there is no bell. */
  private final @Nullable Doorbell bell;

  Ring(Segment segment, int peer, Direction direction) {
    this(segment, peer, direction, null);
  }

  Ring(Segment segment, int peer, Direction direction, @Nullable Doorbell bell) {
    this.bell = bell;
    SegmentLayout layout = segment.layout();
    int size = layout.config().ringSize();
    this.sys = segment.sys();
    this.memory = segment.memory();
    this.padded = layout.isPadded();
    this.head = memory.address(layout.head(peer, direction), Integer.BYTES);
    this.tail = memory.address(layout.tail(peer, direction), Integer.BYTES);
    this.descriptors = memory.address(layout.ring(peer, direction), layout.ringBytes());
    this.descriptorBytes = layout.descriptorBytes();
    this.pocketBytes = layout.pocketBytes();
    this.pocketMask = layout.pocketCount() - 1;
    this.pockets =
        memory.address(
            layout.pockets(peer, direction), (long) layout.pocketCount() * layout.pocketBytes());
    this.mask = size - 1;
    this.lapShift = Integer.numberOfTrailingZeros(size);
    long dataAt = padded ? layout.dataSleeper(peer, direction) : layout.head(peer, direction);
    long spaceAt = padded ? layout.spaceSleeper(peer, direction) : layout.tail(peer, direction);
    this.dataFlag = memory.address(dataAt, Integer.BYTES);
    this.spaceFlag = memory.address(spaceAt, Integer.BYTES);
    this.dataWord = memory.word(dataAt);
    this.spaceWord = memory.word(spaceAt);
  }

  /** The maximum number of messages in flight. */
  int capacity() {
    return mask;
  }

  Memory memory() {
    return memory;
  }

  long descriptor(int counter) {
    return Memory.aligned(descriptors + (long) (counter & mask) * descriptorBytes);
  }

  /** The pocket of a message, if there are pockets; much earlier messages have shared it. */
  long pocket(int counter) {
    return Memory.aligned(pockets + (long) (counter & pocketMask) * pocketBytes);
  }

  /** Tells the lap of a counter from the previous one. Never zero, the value of fresh memory. */
  int lapMark(int counter) {
    return padded ? MARK | ((counter >>> lapShift) & LAP_BITS) : 0;
  }

  int head() {
    return memory.getIntAcquire(head);
  }

  int tail() {
    return memory.getIntAcquire(tail);
  }

  /** Stores the head and wakes the receiver if it may sleep. */
  // r[impl shm.ordering.ring-publish]
  void publish(int before, int now) {
    memory.setIntRelease(head, now);
    if (padded) {
      wakeIfAsleep(dataFlag, dataWord);
    } else {
      VarHandle.fullFence();
      if (memory.getIntAcquire(tail) == before) {
        wakeConsumers();
      }
      ringBell();
    }
  }

  /** Stores the tail and wakes the sender if it may sleep. */
  // r[impl shm.ordering.ring-consume]
  void consume(int before, int now, boolean slotFreed) {
    memory.setIntRelease(tail, now);
    if (padded) {
      wakeIfAsleep(spaceFlag, spaceWord);
    } else {
      VarHandle.fullFence();
      if (slotFreed || memory.getIntAcquire(head) - before >= capacity()) {
        wakeProducers();
        ringBell();
      }
    }
  }

  /** Whether a ring of the bell has shown that the peer is dead. */
  boolean isPeerDead() {
    return bell != null && bell.isPeerDead();
  }

  /** Whether reading any message wakes a sleeping sender, whatever it waits for. */
  boolean tellsOfEveryMessage() {
    return padded;
  }

  /** Rings the bell. A failure does not undo what was published; death has other witnesses. */
  // r[impl shm.doorbell.ring-integration]
  private void ringBell() {
    if (bell != null) {
      bell.announce();
    }
  }

  private void wakeIfAsleep(long flag, MemorySegment word) {
    if (memory.getInt(flag) == SPINS) {
      return;
    }
    VarHandle.fullFence();
    int state = memory.getInt(flag);
    while (state == ASLEEP || state == AT_BELL) {
      // Compare and set: the owner may have woken and gone to sleep in the other way meanwhile.
      if (memory.compareAndSetInt(flag, state, AWAKE)) {
        if (state == ASLEEP) {
          wake(word);
        } else {
          ringBell();
        }
        return;
      }
      state = memory.getInt(flag);
    }
  }

  /**
   * The number of messages for a receiver that has read up to a counter.
   *
   * @return at least one if there are any; in the padded placement it looks only at the next one
   */
  int available(int counter) {
    if (padded) {
      return MessageDescriptor.lapMark(memory.getLongAcquire(descriptor(counter)))
              == lapMark(counter)
          ? 1
          : 0;
    }
    return checked(head() - counter);
  }

  /** The number of unread messages of a sender that has written up to a counter. */
  int unread(int counter) {
    return checked(counter - tail());
  }

  /**
   * The number of messages in flight, for observers; within bounds whatever the peer has written.
   */
  int depth() {
    return Math.clamp(head() - tail(), 0, capacity());
  }

  // r[impl shm.trust.counters]
  private int checked(int difference) {
    if (difference < 0 || difference > capacity()) {
      throw new ProtocolViolation(
          ProtocolViolation.Kind.COUNTER,
          "head and tail are %d apart in a ring that holds %d"
              .formatted(Integer.toUnsignedLong(difference), capacity()));
    }
    return difference;
  }

  // Sleeping: arm, test the condition again, then sleep on the word with the value that arm
  // returned.

  int armData() {
    return arm(dataFlag);
  }

  int armSpace() {
    return arm(spaceFlag);
  }

  private int arm(long flag) {
    if (!padded) {
      VarHandle.fullFence();
      return memory.getIntAcquire(flag); // format 1: the counter itself is the word
    }
    memory.setInt(flag, ASLEEP);
    VarHandle.fullFence();
    return ASLEEP;
  }

  /** Whether no sender sleeps for space or for a slot; unknown, so false, in format 1. */
  boolean isSenderAwake() {
    int state = padded ? memory.getInt(spaceFlag) : ASLEEP;
    return state != ASLEEP && state != AT_BELL;
  }

  /**
   * Announces that the receiver sleeps at its bell; it must look once more now. Format 1 always
   * rings.
   */
  void armDataAtBell() {
    if (padded) {
      memory.setInt(dataFlag, AT_BELL);
    }
    VarHandle.fullFence();
  }

  /**
   * Announces that the receiver polls for now. Does not rewrite a flag that already says so, which
   * would take the cache line from the sender.
   */
  void receiverAwake() {
    if (padded && memory.getInt(dataFlag) != AWAKE) {
      memory.setInt(dataFlag, AWAKE);
    }
  }

  /** Announces that the receiver never sleeps. */
  void receiverSpins() {
    if (padded) {
      memory.setIntRelease(dataFlag, SPINS);
    }
  }

  /** Announces that the sender never sleeps. */
  void senderSpins() {
    if (padded) {
      memory.setIntRelease(spaceFlag, SPINS);
    }
  }

  MemorySegment dataWord() {
    return dataWord;
  }

  MemorySegment spaceWord() {
    return spaceWord;
  }

  /** Wakes all threads that wait for messages; returns how many. */
  // r[impl shm.wakeup.wakes]
  int wakeConsumers() {
    return wake(dataWord);
  }

  /** Wakes all threads that wait for space or for a slot; returns how many. */
  int wakeProducers() {
    return wake(spaceWord);
  }

  /**
   * Wakes all sleepers at this ring, because its other end is gone or this one was closed. With
   * flags this includes a thread that has not noticed and is about to sleep; in format 1 such a
   * thread sleeps to the end of its slice.
   */
  void wakeAll() {
    VarHandle.fullFence(); // the reason is written before the flags are read
    rouse(dataFlag);
    rouse(spaceFlag);
    wakeConsumers();
    wakeProducers();
  }

  /** Wakes all threads that wait for space or for a slot, like {@link #wakeAll}. */
  void wakeAllProducers() {
    VarHandle.fullFence();
    rouse(spaceFlag);
    wakeProducers();
  }

  private void rouse(long flag) {
    if (padded && memory.getInt(flag) == ASLEEP) {
      memory.setIntRelease(flag, AWAKE);
    }
  }

  /** Where the kernel has no futex, no thread sleeps on one. */
  private int wake(MemorySegment word) {
    return Math.max(0, Futex.wake(sys, word, Integer.MAX_VALUE));
  }
}
