package dev.belfry.shm;

import static dev.belfry.shm.Sides.inMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How long a waiter looks before it sleeps, by its strategy and by what it has seen. */
@Timeout(60)
final class WaiterTest {
  private static final int WAITS = 100;

  /** Longer than any waiter spins. */
  private static final long LONG_NANOS = 1_000_000;

  private Segment segment;

  @BeforeEach
  void open() throws IOException {
    segment = Segment.createAnonymous(Sys.forAnyThread(), Placement.PADDED, Sides.CONFIG);
  }

  @AfterEach
  void close() throws IOException {
    segment.close();
  }

  /** Happens only while the waiter sleeps, for a given time; counts the looks until then. */
  private static final class Event implements Awaitable {
    private final long sleepNanos;
    private int looks;
    private boolean happened;

    Event(long sleepNanos) {
      this.sleepNanos = sleepNanos;
    }

    @Override
    public boolean isReady() {
      looks += happened ? 0 : 1;
      return happened;
    }

    @Override
    public boolean isOver() {
      return false;
    }

    @Override
    public MemorySegment word() {
      throw new AssertionError("it sleeps by itself");
    }

    @Override
    public int arm() {
      return 0;
    }

    @Override
    public WaitResult sleep(FutexWait futex, int expected, long untilNanos) {
      happened = true;
      LockSupport.parkNanos(sleepNanos);
      return WaitResult.WOKEN;
    }
  }

  /** The looks of one wait. */
  private static int looks(Waiter waiter, long sleepNanos) {
    var event = new Event(sleepNanos);
    assertThat(waiter.await(event, FutexWait.FOREVER)).isEqualTo(Awaited.READY);
    return event.looks;
  }

  /** The most looks of many waits: on a busy machine a spinning thread does not always run. */
  private static int most(Waiter waiter, long sleepNanos) {
    int most = 0;
    for (int i = 0; i < WAITS; i++) {
      most = Math.max(most, looks(waiter, sleepNanos));
    }
    return most;
  }

  @Test
  void anAdaptiveWaiterSpinsAsLongAsItPays() {
    var waiter = new Waiter(segment, WaitStrategy.ADAPTIVE);
    most(waiter, LONG_NANOS); // in vain: soon it hardly spins
    int idle = most(waiter, LONG_NANOS);
    int busy = most(waiter, 0); // it would not have had to sleep, had it spun a little longer
    assertThat(idle).isLessThan(busy / 2);
    most(waiter, LONG_NANOS);
    assertThat(most(waiter, LONG_NANOS)).as("idle again").isLessThan(busy / 2);
  }

  @Test
  void aWaiterThatIsToSleepDoesSoAtOnce() {
    assertThat(most(new Waiter(segment, WaitStrategy.SLEEP), 0)).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(names = {"SPIN", "YIELD"})
  void aWaiterThatIsNotToSleepLooksUntilTheEnd(WaitStrategy strategy) {
    var waiter = new Waiter(segment, strategy);
    var event = new Event(0);
    assertThat(waiter.await(event, inMillis(20))).isEqualTo(Awaited.TIMEOUT);
    assertThat(event.happened).as("that it slept").isFalse();
    assertThat(event.looks).isGreaterThan(100);
    assertThat(waiter.sleeps()).isZero();
  }
}
