package dev.belfry.bench.call;

import dev.belfry.bench.ipc.EchoedRing;
import java.io.IOException;
import org.HdrHistogram.Histogram;

/**
 * Messages through a ring to another process and back, one thread on either side: what is there
 * before anybody calls anything. As many are under way as there would be callers.
 *
 * @param ring the ring
 */
record RingRoundTrips(EchoedRing ring) implements Calling {
  static Calling open() throws Exception {
    return new RingRoundTrips(EchoedRing.open(Caller.BYTES));
  }

  @Override
  public Caller caller() {
    throw new UnsupportedOperationException("a ring is no way to call");
  }

  @Override
  public CallFigures measure(CallLoad load) throws Exception {
    if (load.perSecond() > 0) {
      throw new IllegalArgumentException("a ring is measured as fast as it goes");
    }
    Histogram latencies = CallFigures.histogram();
    long[] began = new long[load.callers()];
    long start = System.nanoTime();
    long now = start;
    for (int i = 0; i < began.length; i++) {
      began[i] = start;
      ring.send();
    }
    for (int next = 0; now - start < load.nanos(); next = next + 1 == began.length ? 0 : next + 1) {
      ring.receive();
      now = System.nanoTime();
      latencies.recordValue(now - began[next]);
      began[next] = now;
      ring.send();
    }
    for (int i = 0; i < began.length; i++) {
      ring.receive();
    }
    return CallFigures.of(latencies, now - start);
  }

  @Override
  public void close() throws IOException {
    ring.close();
  }
}
