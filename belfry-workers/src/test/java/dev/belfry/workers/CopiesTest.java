package dev.belfry.workers;

import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.open;
import static dev.belfry.workers.Pools.options;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Payloads are copied straight from the caller's array into shared memory, and answers straight
 * out.
 */
@Timeout(120)
final class CopiesTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final int CALLS = 50;

  /** In a pocket, in a slot, and in chunks. */
  @ParameterizedTest
  @ValueSource(ints = {1_000, 60_000, 1 << 20})
  void aCallerAllocatesNothingForAPayloadAndAnAnswerOnce(int length) throws Exception {
    try (WorkerPool pool = open(options(1).workers(1).spares(0))) {
      byte[] payload = new byte[length];
      assertThat(allocated(pool, "drop", payload)).isLessThan(length / 2 + 4_000);
      byte[] wanted = bytes(Integer.toString(length));
      assertThat(allocated(pool, "bytes", wanted)).isLessThan(length + length / 2 + 4_000);
    }
  }

  /** The heap bytes that a call allocates in this process, whichever thread receives the answer. */
  private static long allocated(WorkerPool pool, String method, byte[] payload) throws Exception {
    for (int i = 0; i < CALLS; i++) {
      pool.call(method, payload); // loads classes
    }
    long before = THREADS.getTotalThreadAllocatedBytes();
    for (int i = 0; i < CALLS; i++) {
      pool.call(method, payload);
    }
    return (THREADS.getTotalThreadAllocatedBytes() - before) / CALLS;
  }
}
