package dev.belfry.bench.call;

import dev.belfry.workers.CallOptions;
import dev.belfry.workers.StartedCall;
import dev.belfry.workers.WorkerPool;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

/** Calls through a pool of one worker, all started by one thread. */
final class PoolPipeline implements Pipeline {
  private final WorkerPool pool;
  private final Deque<StartedCall> underWay = new ArrayDeque<>();
  private final byte[] payload = new byte[Caller.BYTES];
  private long sent;
  private long received;

  PoolPipeline(WorkerPool pool) {
    this.pool = pool;
  }

  @Override
  public void send() throws InterruptedException {
    ByteBuffer.wrap(payload).putLong(0, sent++);
    underWay.add(pool.start(PoolCalling.METHOD, payload, CallOptions.DEFAULT));
  }

  @Override
  public void receive() throws Exception {
    byte[] answer = underWay.remove().await();
    if (answer.length != Caller.BYTES || ByteBuffer.wrap(answer).getLong(0) != received++) {
      throw new IllegalStateException("call %d was answered by something else".formatted(received));
    }
  }

  @Override
  public void close() throws IOException {
    pool.close();
  }
}
