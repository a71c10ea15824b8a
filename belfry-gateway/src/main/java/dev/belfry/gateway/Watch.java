package dev.belfry.gateway;

import io.helidon.common.buffers.DataReader;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Detects that a client disconnects while its call is in progress. The connection has no other
 * reader then, so a watcher thread reads: it sees the end of the stream, or the first bytes of the
 * next request, which stay in the reader. That read cannot be stopped without closing the
 * connection, so the next reader joins the watcher first; it would have to wait for the same bytes
 * anyway.
 */
final class Watch {
  private final Thread caller = Thread.currentThread();
  private final Thread watcher;

  /**
   * Set once, by whichever comes first: the caller at the end of the call, or the watcher at the
   * end of the stream.
   */
  private final AtomicBoolean over = new AtomicBoolean();

  /** Whether another request arrives. Written by the watcher; read after joining it. */
  private boolean another;

  private Watch(DataReader reader) {
    this.watcher = Thread.ofVirtual().name("belfry-gateway-watch").unstarted(() -> look(reader));
  }

  /** Starts a watch that interrupts this thread if the client disconnects before {@link #end}. */
  static Watch start(DataReader reader) {
    var watch = new Watch(reader);
    watch.watcher.start();
    return watch;
  }

  private void look(DataReader reader) {
    try {
      reader.ensureAvailable();
      another = true;
    } catch (RuntimeException e) { // end of stream, or any failure of the connection
      if (over.compareAndSet(false, true)) {
        caller.interrupt();
      }
    }
  }

  /** Ends the watch after the call; false if the client disconnected first. */
  boolean end() {
    return over.compareAndSet(false, true);
  }

  /** Waits for the next request; false if there will be none. */
  boolean awaitAnother() throws InterruptedException {
    watcher.join();
    return another;
  }
}
