package dev.belfry.bench.call;

import org.HdrHistogram.Histogram;

/** One thread with as many calls or messages in flight as there would be callers. */
interface Pipeline extends Calling {
  /** Sends one more. */
  void send() throws Exception;

  /** Waits for the answer to the oldest. */
  void receive() throws Exception;

  @Override
  default Caller caller(int bytes) {
    throw new UnsupportedOperationException("one thread for all");
  }

  @Override
  default CallFigures measure(CallLoad load) throws Exception {
    if (load.perSecond() > 0 || load.bytes() != Caller.BYTES) {
      throw new IllegalArgumentException("measured as fast as it goes, and with short messages");
    }
    Histogram latencies = CallFigures.histogram();
    long[] began = new long[load.callers()];
    long start = System.nanoTime();
    long now = start;
    for (int i = 0; i < began.length; i++) {
      began[i] = start;
      send();
    }
    for (int next = 0; now - start < load.nanos(); next = next + 1 == began.length ? 0 : next + 1) {
      receive();
      now = System.nanoTime();
      latencies.recordValue(now - began[next]);
      began[next] = now;
      send();
    }
    for (int i = 0; i < began.length; i++) {
      receive();
    }
    return CallFigures.of(latencies, now - start);
  }
}
