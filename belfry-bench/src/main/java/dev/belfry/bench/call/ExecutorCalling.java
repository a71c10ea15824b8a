package dev.belfry.bench.call;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Hands calls to a single other thread of this process. */
final class ExecutorCalling implements Calling {
  private final ExecutorService thread = Executors.newSingleThreadExecutor();

  @Override
  public Caller caller(int bytes) {
    return payload -> thread.submit(payload::clone).get();
  }

  @Override
  public void close() {
    thread.close();
  }
}
