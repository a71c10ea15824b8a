package dev.belfry.shm;

import dev.belfry.linux.Futex;
import dev.belfry.linux.Sys;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * One ring: where its words are, and when a sleeper at its other end has to be woken. The sender
 * writes the head, the receiver the tail, both free-running counters of 32 bits; the index in the
 * ring is the counter's lower bits. The ring is full when all but one of its descriptors are in
 * use.
 *
 * <p><b>Who sleeps, and who must not be missed.</b> Both sides order a store before a load by a
 * full fence: the sleeper says that it sleeps (or has stored its own counter), fences, and looks
 * once more; the other side stores its counter, fences, and looks whether somebody sleeps. At least
 * one of the two sees what the other did. Then the kernel compares the word once more before it
 * lets anybody sleep.
 *
 * <ul>
 *   <li>In the padded placement each sleeper has a flag, which is also the word it sleeps on: it
 *       sets it to {@link #ASLEEP}; whoever wakes it sets it back. A side that sleeps in an event
 *       loop, where only a descriptor wakes it, sets {@link #AT_BELL} instead and is rung for. A
 *       side that never sleeps sets {@link #SPINS}, and costs its peer not even the fence. Where
 *       several wait for space or for a slot they share the flag, and one may sleep although there
 *       is some: if it is woken before the kernel has let it sleep, and by then another has again
 *       said that it sleeps. The next message that the peer reads wakes it; otherwise it looks by
 *       itself after 50 ms at most.
 *   <li>Format 1 has no flags. A receiver can sleep only if the ring was empty, which the sender
 *       sees by the tail; a sender only if the ring was full, which the receiver sees by the head,
 *       or if it had no slot, so whoever gives one back always wakes. Peers of other makes may
 *       sleep at their bell only and look without a fence: so every publication rings.
 * </ul>
 */
// r[impl shm.ring.capacity]
// r[impl shm.placement.padded]
final class Ring {
  /** The value of a flag whose owner does not sleep just now. */
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

  /** Wakes the peer where it hears nothing else; null if there is none. */
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

  /** How many messages can be under way. */
  int capacity() {
    return mask;
  }

  Memory memory() {
    return memory;
  }

  long descriptor(int counter) {
    return Memory.aligned(descriptors + (long) (counter & mask) * descriptorBytes);
  }

  /** The pocket of a message, if there are any; one that came long before may have had it too. */
  long pocket(int counter) {
    return Memory.aligned(pockets + (long) (counter & pocketMask) * pocketBytes);
  }

  /** Tells the lap of a counter from the one before; never zero, which is what new memory has. */
  int lapMark(int counter) {
    return padded ? MARK | ((counter >>> lapShift) & LAP_BITS) : 0;
  }

  int head() {
    return memory.getIntAcquire(head);
  }

  int tail() {
    return memory.getIntAcquire(tail);
  }

  /** Stores the sender's counter. */
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

  /** Stores the receiver's counter. */
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

  /** Whether a ring has shown that nobody hears it any more. */
  boolean isPeerDead() {
    return bell != null && bell.isPeerDead();
  }

  /** Whether whoever reads a message wakes a sender that sleeps, whatever that waits for. */
  boolean tellsOfEveryMessage() {
    return padded;
  }

  /** A bell that fails changes nothing about what was published; death has other witnesses. */
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
      // Compared, because the owner may meanwhile have woken and gone to sleep at the other place.
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
   * How many messages there are for a receiver that has read up to a counter.
   *
   * @return at least one if there are any; in the padded placement the next one only
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

  /** How many messages of a sender that has written up to a counter are not read yet. */
  int unread(int counter) {
    return checked(counter - tail());
  }

  /** How many messages are under way, for onlookers; in bounds whatever the peer has written. */
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

  // Sleeping: first arm, then look once more, then sleep on the word with the value arm gave.

  int armData() {
    return arm(dataFlag);
  }

  int armSpace() {
    return arm(spaceFlag);
  }

  private int arm(long flag) {
    if (!padded) {
      VarHandle.fullFence();
      return memory.getIntAcquire(flag); // format 1: the flag's place is that of the counter
    }
    memory.setInt(flag, ASLEEP);
    VarHandle.fullFence();
    return ASLEEP;
  }

  /** Whether no sender sleeps for space or for a slot; never known in format 1. */
  boolean isSenderAwake() {
    int state = padded ? memory.getInt(spaceFlag) : ASLEEP;
    return state != ASLEEP && state != AT_BELL;
  }

  /** The receiver sleeps at its bell; it has to look once more now. Format 1 always rings. */
  void armDataAtBell() {
    if (padded) {
      memory.setInt(dataFlag, AT_BELL);
    }
    VarHandle.fullFence();
  }

  /** The receiver looks by itself for now. A flag that says so already is left to the sender. */
  void receiverAwake() {
    if (padded && memory.getInt(dataFlag) != AWAKE) {
      memory.setInt(dataFlag, AWAKE);
    }
  }

  /** The receiver never sleeps. */
  void receiverSpins() {
    if (padded) {
      memory.setIntRelease(dataFlag, SPINS);
    }
  }

  /** The sender never sleeps. */
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

  /** Wakes all who wait for messages; returns how many. */
  // r[impl shm.wakeup.wakes]
  int wakeConsumers() {
    return wake(dataWord);
  }

  /** Wakes all who wait for space or for a slot; returns how many. */
  int wakeProducers() {
    return wake(spaceWord);
  }

  /**
   * Wakes everybody at this ring, because its other end is gone or this one was closed. Also a
   * thread that has not seen that and is just about to sleep, if there is a flag to change; in
   * format 1 such a thread sleeps to the end of its stretch.
   */
  void wakeAll() {
    VarHandle.fullFence(); // what has ended is written before the flags are looked at
    rouse(dataFlag);
    rouse(spaceFlag);
    wakeConsumers();
    wakeProducers();
  }

  /** Wakes all who wait for space or for a slot, as {@link #wakeAll} does. */
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

  /** Where the kernel has no futexes nobody sleeps on them. */
  private int wake(MemorySegment word) {
    return Math.max(0, Futex.wake(sys, word, Integer.MAX_VALUE));
  }
}
