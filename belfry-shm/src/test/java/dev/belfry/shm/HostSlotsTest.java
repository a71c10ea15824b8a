package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Four threads of the host allocate slots for four guests from its one pool. */
final class HostSlotsTest {
  private static final int GUESTS = 4;
  private static final int USES = Boolean.getBoolean("belfry.stress") ? 2_000_000 : 50_000;
  private static final VarHandle LONG = JAVA_LONG.varHandle();

  /** The last guest dies again and again: its slots are reclaimed, not given back. */
  // r[verify shm.slot.allocate]
  // r[verify shm.segment.slot-ownership]
  @ParameterizedTest
  @CsvSource({"V1, 3", "V1, 70", "PADDED, 3", "PADDED, 70"})
  void noTwoThreadsGetTheSameSlotAndEveryUseIsCounted(Placement placement, int slots)
      throws Exception {
    SegmentConfig config = Sides.CONFIG.withMaxGuests(GUESTS).withSlots(slots, 128);
    try (Sides sides = Sides.of(placement, config);
        ExecutorService threads = Executors.newFixedThreadPool(GUESTS)) {
      var users = new AtomicIntegerArray(slots);
      var uses = new ArrayList<Future<?>>();
      for (int guest = 1; guest <= GUESTS; guest++) {
        var use = new Use(sides, guest, users);
        uses.add(threads.submit(use::takeAndGiveBack));
      }
      for (Future<?> of : uses) {
        of.get();
      }
      SlotSource source = sides.host.hostSlots().sourceFor(1);
      int generations = 0;
      for (int slot = 0; slot < slots; slot++) {
        generations += source.generation(slot);
      }
      assertThat(generations).isEqualTo(GUESTS * USES);
      assertThat(sides.host.hostSlotsUsed()).isZero();
      assertThat(sides.freeSlots(0)).isEqualTo(slots);
    }
  }

  /** The slots of one guest, as used by one thread. */
  private static final class Use {
    private final Sides sides;
    private final int guest;
    private final AtomicIntegerArray users;
    private final SlotSource source;
    private final ArrayDeque<Integer> held = new ArrayDeque<>();

    Use(Sides sides, int guest, AtomicIntegerArray users) {
      this.sides = sides;
      this.guest = guest;
      this.users = users;
      this.source = sides.host.hostSlots().sourceFor(guest);
    }

    /** Holds up to two slots, so that with three of them some thread goes without. */
    @SuppressWarnings("ThreadPriorityCheck") // a thread without a slot lets the others run
    void takeAndGiveBack() {
      for (int uses = 0; uses < USES; ) {
        int slot = source.allocate();
        if (slot >= 0) {
          uses++;
          assertThat(users.incrementAndGet(slot)).as("users of slot %d", slot).isEqualTo(1);
          held.add(slot);
        }
        if (slot < 0 || held.size() > 1) {
          giveBack();
          Thread.yield();
        }
      }
      while (!held.isEmpty()) {
        giveBack();
      }
    }

    private void giveBack() {
      if (guest == GUESTS) {
        held.forEach(users::decrementAndGet);
        held.clear();
        sides.host.hostSlots().takeBack(guest);
      } else if (!held.isEmpty()) {
        int slot = held.remove();
        users.decrementAndGet(slot);
        long word = sides.host.layout().pool(0) + 8L * (slot / 64);
        long _ = (long) LONG.getAndBitwiseOrRelease(sides.bytes(), word, 1L << slot);
      }
    }
  }
}
