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
 * The server-sent events for one viewer. Whoever has something for it puts it into a queue and
 * moves on; the thread of the request writes. A viewer that does not keep up is cut off rather than
 * waited for: its page asks again and gets everything it has missed.
 */
final class ConsoleStream implements AutoCloseable {
  /** More than all that a new viewer is given at once. */
  static final int QUEUED = HostEvents.KEPT + 100;

  /** How long it may take to notice that the viewer may no longer look. */
  private static final long CHECK_MILLIS = 500;

  private final BlockingQueue<String> queue = new ArrayBlockingQueue<>(QUEUED);
  private final BooleanSupplier isAllowed;
  private final Runnable taken;
  private final Consumer<ConsoleStream> closed;
  private volatile boolean isBehind;
  private volatile boolean isLast;

  /**
   * Writes until it is told to end.
   *
   * @param isAllowed whether the viewer may still look
   * @param taken told whenever the viewer has taken something
   * @param closed told at the end
   */
  ConsoleStream(BooleanSupplier isAllowed, Runnable taken, Consumer<ConsoleStream> closed) {
    this.isAllowed = isAllowed;
    this.taken = taken;
    this.closed = closed;
  }

  /** Sends an event as soon as possible; from any thread, at once. */
  void send(String event, String json) {
    if (!queue.offer(text(event, json))) {
      isBehind = true;
    }
  }

  /** Lets it end; nothing is to be sent after that. */
  void finish() {
    send("end", "{\"reason\": \"closed\"}");
    isLast = true;
  }

  /** Writes to the viewer, until it is told to end or nobody may look any more. */
  void writeTo(OutputStream out) throws IOException {
    try {
      while (!isBehind && isAllowed.getAsBoolean()) {
        boolean isEmptyTheEnd = isLast; // read before the queue, so that nothing in it is lost
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
