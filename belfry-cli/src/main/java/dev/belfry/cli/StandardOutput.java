package dev.belfry.cli;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Futex;
import dev.belfry.linux.Io;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.function.Supplier;

/**
 * Standard output that knows why it failed. {@link System#out} only knows that it did. But a reader
 * that has seen enough, as in {@code belfry doctor | head -1}, is not worth reporting, while a full
 * disk is. SIGPIPE is blocked, so a write fails with EPIPE instead of ending the program.
 *
 * <p>Until a write fails, only Java's own channel is used: setting up the first system call of a
 * process takes longer than most commands.
 */
final class StandardOutput extends OutputStream {
  private static final int STDOUT = 1;

  private final WritableByteChannel channel;
  private final Supplier<Sys> sys;
  private final PrintWriter writer;

  /** The error number of the first write that failed; nothing is written after that. */
  private volatile int errno;

  /**
   * Creates the output.
   *
   * @param channel standard output
   * @param sys system calls, to find out why a write to the channel failed
   */
  StandardOutput(WritableByteChannel channel, Supplier<Sys> sys) {
    this.channel = channel;
    this.sys = sys;
    this.writer = new PrintWriter(new OutputStreamWriter(this, System.out.charset()), true);
  }

  /** Returns the writer for commands, which flushes each line and knows whether that failed. */
  PrintWriter writer() {
    return writer;
  }

  /**
   * Flushes what is left.
   *
   * @return the exit code: the command's own; if output was lost, that of a program ended by
   *     SIGPIPE, or 1 after a message
   */
  int finish(int exitCode, PrintWriter err) {
    writer.flush();
    if (errno == 0) {
      return exitCode;
    }
    if (errno == Errno.EPIPE) {
      return 128 + Signo.PIPE;
    }
    err.println("belfry: " + failure().getMessage());
    return 1;
  }

  @Override
  public void write(int b) throws ErrnoException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws ErrnoException {
    boolean interrupted = Thread.interrupted(); // or the channel would close, for every thread
    ByteBuffer rest = ByteBuffer.wrap(bytes, offset, length);
    while (rest.hasRemaining() && errno == 0) {
      writeSome(rest);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (errno != 0) {
      throw failure();
    }
  }

  private void writeSome(ByteBuffer rest) {
    try {
      if (channel.write(rest) == 0) {
        awaitRoom(); // the descriptor was inherited as non-blocking
      }
    } catch (IOException unclear) {
      writeBySystemCall(rest);
    }
  }

  /** Retries a failed write by system call, to learn the error number. */
  private void writeBySystemCall(ByteBuffer rest) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(rest.remaining());
      buffer.copyFrom(MemorySegment.ofBuffer(rest));
      long result = Io.write(sys.get(), STDOUT, buffer);
      if (result >= 0) {
        rest.position(rest.position() + (int) result);
      } else if (result != -Errno.EAGAIN) {
        errno = (int) -result;
      }
    }
  }

  private ErrnoException failure() {
    return new ErrnoException("write", errno, "standard output");
  }

  private void awaitRoom() {
    var poll = new PollSet(sys.get(), 1);
    poll.set(0, STDOUT, PollSet.OUT);
    poll.await(Futex.FOREVER);
  }
}
