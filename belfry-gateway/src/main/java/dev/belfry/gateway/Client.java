package dev.belfry.gateway;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A client's connection: its state and its current deadline. */
final class Client {
  private final SocketChannel channel;
  private final Duration patience;
  private @Nullable Inflow inflow;

  /** When it is cut off, unless it reaches its next stage first. */
  private volatile long untilNanos;

  /** The thread that handles its request; null if there is none. Guarded by this. */
  private @Nullable Thread busy;

  Client(SocketChannel channel, Duration patience) {
    this.channel = channel;
    this.patience = patience;
    allow(patience);
  }

  /** Sets its reader, before its first request. */
  void inflow(Inflow reads) {
    inflow = reads;
  }

  /** Everything read from it. */
  Inflow inflow() {
    return Objects.requireNonNull(inflow, "nothing was read yet");
  }

  /** A request has arrived, and this thread handles it. */
  synchronized void begin() {
    busy = Thread.currentThread();
    inflow().expectHead();
    allow(patience);
  }

  /** The request is answered, and another may follow. */
  synchronized void end() {
    busy = null;
    allow(patience);
  }

  /** The first bytes of another request have arrived: restarts the time allowed for its head. */
  void anotherComes() {
    allow(patience);
  }

  /** Allows the time for the call, plus that for reading the answer. */
  void allowCall(Duration deadline) {
    allow(deadline.plus(patience));
  }

  /** Allows the time for reading the answer. */
  void allowAnswer() {
    allow(patience);
  }

  private void allow(Duration time) {
    untilNanos = System.nanoTime() + time.toNanos();
  }

  boolean isOverdue(long nowNanos) {
    return nowNanos - untilNanos >= 0;
  }

  boolean isOpen() {
    return channel.isOpen();
  }

  synchronized boolean isBusy() {
    return busy != null;
  }

  synchronized void cutIfIdle() {
    if (busy == null) {
      cut();
    }
  }

  /** Closes the connection and interrupts the thread that handles its request. */
  synchronized void cut() {
    try {
      channel.close();
    } catch (IOException e) {
      // Gone is all it has to be.
    }
    if (busy != null) {
      busy.interrupt();
    }
  }

  /**
   * Signals the end of the answer and discards what the client still sends, up to {@code most}
   * bytes. Closing a socket with unread bytes resets it, and the client may lose the answer.
   */
  void linger(long most) throws IOException {
    channel.shutdownOutput();
    inflow().drop(most);
  }

  /** Starts watching for a disconnect; its request must have been read completely. */
  Watch watch() {
    return Watch.start(inflow().reader());
  }
}
