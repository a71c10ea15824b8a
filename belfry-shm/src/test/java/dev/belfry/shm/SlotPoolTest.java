package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several threads of one owner take slots from its pool. */
final class SlotPoolTest {
  private static final int THREADS = 4;
  private static final int EACH = Boolean.getBoolean("belfry.stress") ? 5_000_000 : 300_000;

  // r[verify shm.slot.allocate]
  @ParameterizedTest
  @ValueSource(ints = {3, 70})
  void noTwoThreadsGetTheSameSlotAndEveryUseIsCounted(int slots) throws Exception {
    SegmentConfig config = Sides.CONFIG.withSlots(slots, 128);
    try (Sides sides = Sides.of(Placement.V1, config);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      var pool = new SlotPool(sides.guest, 1);
      var users = new AtomicIntegerArray(slots);
      Callable<Integer> taking = () -> takeAndGiveBack(pool, users);
      var taken = new ArrayList<Future<Integer>>();
      for (int i = 0; i < THREADS; i++) {
        taken.add(threads.submit(taking));
      }
      int uses = 0;
      for (Future<Integer> of : taken) {
        uses += of.get();
      }
      int generations = 0;
      for (int slot = 0; slot < slots; slot++) {
        generations += sides.bytes().get(JAVA_INT, sides.host.layout().slot(1, slot));
      }
      assertThat(uses).isGreaterThan(EACH);
      assertThat(generations).isEqualTo(uses);
      assertThat(sides.freeSlots(1)).isEqualTo(slots);
    }
  }

  /** Holds up to two slots at a time, so that with three of them somebody goes without. */
  private static int takeAndGiveBack(SlotPool pool, AtomicIntegerArray users) {
    int uses = 0;
    int held = -1;
    for (int i = 0; i < EACH; i++) {
      int slot = pool.allocate();
      if (slot >= 0) {
        uses++;
        assertThat(users.incrementAndGet(slot)).as("users of slot %d", slot).isEqualTo(1);
      }
      if (held >= 0) {
        users.decrementAndGet(held);
        pool.free(held);
      }
      held = slot;
    }
    if (held >= 0) {
      users.decrementAndGet(held);
      pool.free(held);
    }
    return uses;
  }
}
