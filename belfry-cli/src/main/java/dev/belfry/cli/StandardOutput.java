package dev.belfry.cli;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Futex;
import dev.belfry.linux.Io;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Standard output that knows how it failed. {@link System#out} only knows that it did; but a reader
 * that has seen enough, as in {@code belfry doctor | head -1}, is no error worth reporting, while a
 * full disk is. SIGPIPE is blocked here, so writing reports it instead of ending the program.
 */
final class StandardOutput extends OutputStream {
  private static final int STDOUT = 1;

  private final Sys sys;
  private final PrintWriter writer;

  /** The error number of the first write that failed; nothing is written after that. */
  private volatile int errno;

  StandardOutput(Sys sys) {
    this.sys = sys;
    this.writer = new PrintWriter(new OutputStreamWriter(this, System.out.charset()), true);
  }

  /** Where commands write; each line is passed on at once. It knows whether that has failed. */
  PrintWriter writer() {
    return writer;
  }

  /**
   * Writes out what is left.
   *
   * @return the exit code: that of the command, or, if its output got lost, that of a program ended
   *     by SIGPIPE, or 1 after a message
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
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(Math.max(1, length));
      MemorySegment.copy(bytes, offset, buffer, JAVA_BYTE, 0, length);
      long written = 0;
      while (written < length && errno == 0) {
        long result = Io.write(sys, STDOUT, buffer.asSlice(written, length - written));
        if (result >= 0) {
          written += result;
        } else if (result == -Errno.EAGAIN) {
          awaitRoom(); // whoever gave us this descriptor has made it non-blocking
        } else {
          errno = (int) -result;
        }
      }
    }
    if (errno != 0) {
      throw failure();
    }
  }

  private ErrnoException failure() {
    return new ErrnoException("write", errno, "standard output");
  }

  private void awaitRoom() {
    var poll = new PollSet(sys, 1);
    poll.set(0, STDOUT, PollSet.OUT);
    poll.await(Futex.FOREVER);
  }
}
