package dev.belfry.workers;

import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.call;
import static dev.belfry.workers.Pools.open;
import static dev.belfry.workers.Pools.options;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whichever thread looks for answers, no answer is left unread. */
@Timeout(120)
final class LookoutTest {
  private static final int CALLS = 100;

  /** Enough callers that some wait while another looks. */
  private static final int CROWD = 3;

  /** The host polls every 50 ms, and would find by then an answer that was not signalled. */
  private static final long LEFT_LYING_NANOS = 20_000_000;

  /**
   * A caller that looks for its own answer, and leaves when no other is expected, spares the worker
   * the doorbell. The answer to a call on a virtual thread, which may soon sleep, must still be
   * noticed.
   */
  @Test
  void anAnswerIsHeardOfAfterTheLastWhoLookedHasLeft() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(0));
        ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      int slow = 0;
      for (int i = 0; i < CALLS; i++) {
        assertThat(call(pool, "upper", "looks")).isEqualTo("LOOKS");
        slow += virtual.submit(timed(pool, "upper", "sleeps")).get() > LEFT_LYING_NANOS ? 1 : 0;
      }
      assertThat(slow).as("calls whose answers were left lying").isLessThan(CALLS / 3);
    }
  }

  /**
   * Callers that are awake rely on each other to look, so the worker need not ring. The last of
   * them to leave must make sure that the answer to a call still in progress is noticed.
   */
  @Test
  void anAnswerIsHeardOfAfterAllWhoReliedOnEachOtherHaveLeft() throws Exception {
    try (WorkerPool pool = open(options(2).workers(1).spares(0));
        ExecutorService callers = Executors.newFixedThreadPool(CROWD);
        ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      int slow = 0;
      for (int i = 0; i < CALLS; i++) {
        Future<Long> goesOn = virtual.submit(timed(pool, "sleep", "1"));
        callers.invokeAll(Collections.nCopies(CROWD, timed(pool, "upper", "looks")));
        slow += goesOn.get() > LEFT_LYING_NANOS ? 1 : 0;
      }
      assertThat(slow).as("calls whose answers were left lying").isLessThan(CALLS / 3);
    }
  }

  /** The unread answer used to take up the room for which the next call was refused. */
  @Test
  void aCallIsNotRefusedForAnAnswerThatIsThere() throws Exception {
    CallOptions refuse = CallOptions.DEFAULT.withOverload(Overload.REFUSE);
    try (WorkerPool pool = open(options(0).workers(1).spares(0).callsPerWorker(1))) {
      int slow = 0;
      for (int i = 0; i < CALLS; i++) {
        assertThat(call(pool, "upper", "looks")).isEqualTo("LOOKS");
        StartedCall first = pool.start("upper", bytes("first"), refuse);
        long began = System.nanoTime();
        while (isRefused(pool.start("upper", bytes("second"), refuse))) {
          Thread.onSpinWait();
        }
        slow += System.nanoTime() - began > LEFT_LYING_NANOS ? 1 : 0;
        assertThat(first.await()).isEqualTo(bytes("FIRST"));
      }
      assertThat(slow).as("calls refused for answers that were left lying").isLessThan(CALLS / 3);
    }
  }

  private static boolean isRefused(StartedCall call) throws Exception {
    try {
      assertThat(call.await()).isEqualTo(bytes("SECOND"));
      return false;
    } catch (PoolFull e) {
      return true;
    }
  }

  private static Callable<Long> timed(WorkerPool pool, String method, String text) {
    return () -> {
      long began = System.nanoTime();
      call(pool, method, text);
      return System.nanoTime() - began;
    };
  }
}
