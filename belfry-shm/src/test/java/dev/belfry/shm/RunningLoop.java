package dev.belfry.shm;

import dev.belfry.loop.Backend;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.LoopOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A loop with a thread that runs it. */
final class RunningLoop implements AutoCloseable {
  private final EventLoop loop;
  private final Thread thread;

  private RunningLoop(EventLoop loop) {
    this.loop = loop;
    this.thread =
        Thread.ofPlatform()
            .name("test-loop")
            .start(
                () -> {
                  try {
                    loop.run();
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                });
  }

  static RunningLoop start() throws IOException {
    return start(LoopOptions.DEFAULT);
  }

  static RunningLoop start(Backend backend) throws IOException {
    return start(LoopOptions.DEFAULT.withBackend(backend));
  }

  static RunningLoop start(LoopOptions options) throws IOException {
    return new RunningLoop(EventLoop.open(options));
  }

  EventLoop loop() {
    return loop;
  }

  Thread thread() {
    return thread;
  }

  /** Runs an action on the loop thread and waits for it. */
  <T> T call(Callable<T> action) throws Exception {
    var result = new CompletableFuture<T>();
    loop.scheduler()
        .execute(
            () -> {
              try {
                result.complete(action.call());
              } catch (Throwable e) {
                result.completeExceptionally(e);
              }
            });
    return result.get(30, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    loop.close();
    while (thread.isAlive()) {
      Thread.onSpinWait(); // it is about to end
    }
  }
}
