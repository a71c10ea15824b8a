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

/** Reads a pipe line by line and keeps the last lines. For the loop thread. */
final class WorkerOutput {
  private static final int BUFFER_BYTES = 16 * 1024;
  private static final int LONGEST_LINE = 8 * 1024;
  private static final int KEPT_LINES = 50;

  /** The most continuation bytes that a UTF-8 character has. */
  private static final int MORE_BYTES = 3;

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

  /**
   * Stops reading, even if another process still holds the pipe open. A partial line counts as a
   * line.
   */
  void close() {
    if (!ended) {
      ended = true;
      if (length > 0) {
        endLine(length);
      }
      pipe.close();
    }
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
    close();
    whenEnded.run();
  }

  private void take(byte next) {
    if (next == '\n') {
      endLine(length);
      return;
    }
    if (length == LONGEST_LINE) {
      endLine(startOfLetter(next));
    }
    line[length++] = next;
  }

  /**
   * Where the character begins that the next byte belongs to, so that no character is cut in two.
   */
  private int startOfLetter(byte next) {
    int start = length;
    byte first = next;
    while (isContinuation(first) && start > length - MORE_BYTES) {
      first = line[--start];
    }
    return isContinuation(first) ? length : start;
  }

  /** Whether this is a continuation byte of UTF-8. */
  private static boolean isContinuation(byte next) {
    return (next & 0xc0) == 0x80;
  }

  /** Ends a line at this length; the rest is the beginning of the next. */
  private void endLine(int end) {
    String text = new String(line, 0, end, StandardCharsets.UTF_8);
    length -= end;
    System.arraycopy(line, end, line, 0, length);
    tail.addLast(text);
    if (tail.size() > KEPT_LINES) {
      tail.removeFirst();
    }
    lines.accept(text);
  }
}
