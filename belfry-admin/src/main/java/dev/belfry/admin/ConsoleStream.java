package dev.belfry.admin;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The server-sent events for one viewer. Senders only enqueue events; the request's thread writes
 * them. A viewer that falls behind is disconnected rather than waited for: its page reconnects and
 * gets everything that it missed.
 */
final class ConsoleStream implements AutoCloseable {
  /** More than a new viewer is sent at once. */
  static final int QUEUED = HostEvents.KEPT + 100;

  /** How long it may take to notice that the viewer is no longer authorised. */
  private static final long CHECK_MILLIS = 500;

  private final BlockingQueue<String> queue = new ArrayBlockingQueue<>(QUEUED);
  private final BooleanSupplier isAllowed;
  private final Runnable taken;
  private final Consumer<ConsoleStream> closed;
  private volatile boolean isBehind;
  private volatile boolean isLast;

  /**
   * Creates a stream.
   *
   * @param isAllowed whether the viewer is still authorised
   * @param taken called after each event written to the viewer
   * @param closed called on close
   */
  ConsoleStream(BooleanSupplier isAllowed, Runnable taken, Consumer<ConsoleStream> closed) {
    this.isAllowed = isAllowed;
    this.taken = taken;
    this.closed = closed;
  }

  /** Enqueues an event; never blocks, and may be called on any thread. */
  void send(String event, String json) {
    if (!queue.offer(text(event, json))) {
      isBehind = true;
    }
  }

  /** Ends the stream once the queue is empty; nothing may be sent afterwards. */
  void finish() {
    send("end", "{\"reason\": \"closed\"}");
    isLast = true;
  }

  /** Writes to the viewer until the stream is finished, falls behind or is no longer authorised. */
  void writeTo(OutputStream out) throws IOException {
    try {
      while (!isBehind && isAllowed.getAsBoolean()) {
        boolean isEmptyTheEnd = isLast; // read before polling, so that no queued event is lost
        String next = queue.poll(isEmptyTheEnd ? 0 : CHECK_MILLIS, TimeUnit.MILLISECONDS);
        if (next != null) {
          write(out, next);
        } else if (isEmptyTheEnd) {
          return;
        }
      }
      write(out, text("end", isBehind ? "{\"reason\": \"behind\"}" : "{\"reason\": \"session\"}"));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void write(OutputStream out, String event) throws IOException {
    out.write(event.getBytes(StandardCharsets.UTF_8));
    out.flush();
    taken.run();
  }

  private static String text(String event, String json) {
    return "event: " + event + "\ndata: " + json + "\n\n";
  }

  @Override
  public void close() {
    closed.accept(this);
  }
}
