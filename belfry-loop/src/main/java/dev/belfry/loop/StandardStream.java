package dev.belfry.loop;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.FileStatus;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Sys;
import dev.belfry.loop.TransferOperation.Kind;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Standard input, output or error on a loop. Blocking mode is a property of the open file
 * description, which we share with the shell. So the stream is reopened where possible (terminals,
 * pipes, devices). Elsewhere the flag is restored when the last such stream is closed and when the
 * program exits. Sockets need no flag. A regular file never blocks, and is not reopened because its
 * position is shared too: we go on where the shell stopped, and it goes on where we stop.
 */
public final class StandardStream extends ByteHandle {
  /** Whether the open file description is shared, and we have made it non-blocking. */
  private final boolean borrowed;

  private final boolean regular;

  private StandardStream(EventLoop loop, Fd fd, FileStatus status, boolean borrowed) {
    super(
        loop,
        fd,
        status.isSocket() ? Kind.RECEIVE : Kind.READ,
        status.isSocket() ? Kind.SEND : Kind.WRITE);
    this.regular = status.isRegular();
    this.borrowed = borrowed;
  }

  /** Standard input. */
  public static StandardStream in(EventLoop loop) throws IOException {
    return open(loop, 0, OpenFlags.READ_ONLY);
  }

  /** Standard output. */
  public static StandardStream out(EventLoop loop) throws IOException {
    return open(loop, 1, OpenFlags.WRITE_ONLY | OpenFlags.APPEND);
  }

  /** Standard error. */
  public static StandardStream err(EventLoop loop) throws IOException {
    return open(loop, 2, OpenFlags.WRITE_ONLY | OpenFlags.APPEND);
  }

  private static StandardStream open(EventLoop loop, int number, int mode) throws IOException {
    Sys sys = loop.sharedSys;
    FileStatus status = FileStatus.of(sys, number);
    if (status.isRegular() || status.isSocket()) {
      Fd copy = FdFlags.duplicate(sys, number);
      return new StandardStream(loop, copy, status, false);
    }
    Path path = Path.of("/proc/self/fd", Integer.toString(number));
    try {
      int flags = mode | OpenFlags.NON_BLOCKING | OpenFlags.NO_CONTROLLING_TERMINAL;
      return new StandardStream(loop, OpenFile.open(sys, path, flags, 0), status, false);
    } catch (ErrnoException notAgain) {
      Fd copy = FdFlags.duplicate(sys, number);
      try {
        BorrowedFlags.borrow(sys, number);
      } catch (ErrnoException | RuntimeException e) {
        copy.close();
        throw e;
      }
      return new StandardStream(loop, copy, status, true);
    }
  }

  @Override
  boolean isRegularFile() {
    return regular;
  }

  @Override
  void beforeClose() {
    if (borrowed) {
      BorrowedFlags.giveBack(loop.sharedSys);
    }
  }
}
