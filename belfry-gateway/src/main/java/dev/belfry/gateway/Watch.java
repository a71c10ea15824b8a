package dev.belfry.gateway;

import io.helidon.common.buffers.DataReader;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Sees whether a client goes away while its call is under way. Nobody else reads then, so a thread
 * of the watch does: it gets the end of the stream, or the first bytes of the next request, which
 * stay with the reader. That read cannot be stopped without closing the connection; so whoever
 * wants to go on reading waits for it, and would otherwise wait for the same thing itself.
 */
final class Watch {
  private final Thread caller = Thread.currentThread();
  private final Thread watcher;

  /** Set once: by the caller when the call has ended, or by the watcher at the stream's end. */
  private final AtomicBoolean over = new AtomicBoolean();

  /** Written by the watcher, and read after its end. */
  private boolean another;

  private Watch(DataReader reader) {
    this.watcher = Thread.ofVirtual().name("belfry-gateway-watch").unstarted(() -> look(reader));
  }

  /** Interrupts this thread if the client goes away before {@link #end}. */
  static Watch start(DataReader reader) {
    var watch = new Watch(reader);
    watch.watcher.start();
    return watch;
  }

  private void look(DataReader reader) {
    try {
      reader.ensureAvailable();
      another = true;
    } catch (RuntimeException e) { // the end, or whatever has become of the connection
      if (over.compareAndSet(false, true)) {
        caller.interrupt();
      }
    }
  }

  /** The call has ended; false if the client has gone before. */
  boolean end() {
    return over.compareAndSet(false, true);
  }

  /** Waits for the next request; false if there will be none. */
  boolean awaitAnother() throws InterruptedException {
    watcher.join();
    return another;
  }
}
