package dev.belfry.workers;

import dev.belfry.linux.Fd;
import dev.belfry.loop.Descriptor;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.Operation;
import dev.belfry.loop.TransferOperation;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/** Reads a pipe line by line and keeps the last lines. On the loop thread. */
final class WorkerOutput {
  private static final int BUFFER_BYTES = 16 * 1024;
  private static final int LONGEST_LINE = 8 * 1024;
  private static final int KEPT_LINES = 50;

  private final Descriptor pipe;
  private final Consumer<String> lines;
  private final Runnable whenEnded;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final byte[] line = new byte[LONGEST_LINE];
  private final ArrayDeque<String> tail = new ArrayDeque<>();
  private final TransferOperation read;
  private int length;
  private boolean ended;

  WorkerOutput(EventLoop loop, Fd fd, Consumer<String> lines, Runnable whenEnded)
      throws IOException {
    this.pipe = Descriptor.adopt(loop, fd);
    this.lines = lines;
    this.whenEnded = whenEnded;
    this.read = pipe.readSome(buffer);
  }

  void start() {
    read.start(this::haveRead);
  }

  boolean isEnded() {
    return ended;
  }

  /** The last lines. */
  String tail() {
    return String.join("\n", tail);
  }

  /** Stops reading, even if somebody else still holds the pipe. */
  void close() {
    ended = true;
    pipe.close();
  }

  private void haveRead(Operation<? extends Integer> operation) {
    if (ended) {
      return;
    }
    buffer.flip();
    boolean hasMore = operation.hasValue() && buffer.hasRemaining();
    while (buffer.hasRemaining()) {
      take(buffer.get());
    }
    buffer.clear();
    if (hasMore) {
      start();
      return;
    }
    if (length > 0) {
      endLine();
    }
    close();
    whenEnded.run();
  }

  private void take(byte next) {
    if (next != '\n') {
      line[length++] = next;
    }
    if (next == '\n' || length == LONGEST_LINE) {
      endLine();
    }
  }

  private void endLine() {
    String text = new String(line, 0, length, StandardCharsets.UTF_8);
    length = 0;
    tail.addLast(text);
    if (tail.size() > KEPT_LINES) {
      tail.removeFirst();
    }
    lines.accept(text);
  }
}
