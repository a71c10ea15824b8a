package dev.belfry.gateway;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A client's connection: what it is doing, and how long it may. */
final class Client {
  private final SocketChannel channel;
  private final Duration patience;
  private @Nullable Inflow inflow;

  /** When it is cut off, unless it moves on to something else before. */
  private volatile long untilNanos;

  /** The thread that answers its request; null while there is none. Guarded by this. */
  private @Nullable Thread busy;

  Client(SocketChannel channel, Duration patience) {
    this.channel = channel;
    this.patience = patience;
    allow(patience);
  }

  /** Before its first request. */
  void inflow(Inflow reads) {
    inflow = reads;
  }

  /** What comes from it. */
  Inflow inflow() {
    return Objects.requireNonNull(inflow, "nothing was read yet");
  }

  /** A request has come: this thread answers it. */
  synchronized void begin() {
    busy = Thread.currentThread();
    inflow().expectHead();
    allow(patience);
  }

  /** The request is answered, and another may come. */
  synchronized void end() {
    busy = null;
    allow(patience);
  }

  /** The first bytes of another request have come: for its head there is as much time as ever. */
  void anotherComes() {
    allow(patience);
  }

  /** Allows the time for the call, and then what the client needs to take the answer. */
  void allowCall(Duration deadline) {
    allow(deadline.plus(patience));
  }

  /** Allows what a client needs to take the answer. */
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

  /** Ends whatever it is doing. */
  synchronized void cut() {
    try {
      channel.close();
    } catch (IOException e) {
      // It is gone, which is all that is wanted.
    }
    if (busy != null) {
      busy.interrupt();
    }
  }

  /**
   * Tells it that the answer is complete, and drops what it still sends, up to {@code most} bytes.
   * A socket that is closed with bytes unread is reset, and the client may lose the answer.
   */
  void linger(long most) throws IOException {
    channel.shutdownOutput();
    inflow().drop(most);
  }

  /** Begins to watch whether it goes away; its request must have been read to the end. */
  Watch watch() {
    return Watch.start(inflow().reader());
  }
}
