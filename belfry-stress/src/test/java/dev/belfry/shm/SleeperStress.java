package dev.belfry.shm;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressMeta;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * One side goes to sleep while the other causes the event it would wait for. Results: whether the
 * sleeper saw the event, and whether it is left asleep.
 */
@Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "seen, and woken for nothing")
@Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "seen: it will not sleep")
@Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "not seen, but woken")
@Outcome(id = "false, true", expect = Expect.FORBIDDEN, desc = "sleeps and nobody wakes it")
public final class SleeperStress {
  private SleeperStress() {}

  /** A receiver goes to sleep while a message is sent. */
  @JCStressTest
  @JCStressMeta(SleeperStress.class)
  @State
  public static class ForData {
    private final StressRing ring = new StressRing();

    @Actor
    public void sleeper(ZZ_Result result) {
      result.r1 = ring.armForData();
    }

    @Actor
    public void waker() {
      ring.send();
    }

    @Arbiter
    public void after(ZZ_Result result) {
      result.r2 = ring.isReceiverAsleep();
    }
  }

  /** A sender goes to sleep while its message is read. */
  @JCStressTest
  @JCStressMeta(SleeperStress.class)
  @State
  public static class ForSpace {
    private final StressRing ring = new StressRing();

    @Actor
    public void sleeper(ZZ_Result result) {
      result.r1 = ring.armForSpace();
    }

    @Actor
    public void waker() {
      ring.consume();
    }

    @Arbiter
    public void after(ZZ_Result result) {
      result.r2 = ring.isSenderAsleep();
    }
  }
}
