package dev.belfry.bench.call;

import dev.belfry.bench.ipc.EchoedRing;
import java.io.IOException;

/**
 * Messages through a ring to another process and back, with one thread on either side: the cost
 * before there are any calls. As many are in flight as there would be callers.
 *
 * @param ring the ring
 */
record RingRoundTrips(EchoedRing ring) implements Pipeline {
  static Calling open() throws Exception {
    return new RingRoundTrips(EchoedRing.open(Caller.BYTES));
  }

  @Override
  public void send() throws Exception {
    ring.send();
  }

  @Override
  public void receive() throws Exception {
    ring.receive();
  }

  @Override
  public void close() throws IOException {
    ring.close();
  }
}
