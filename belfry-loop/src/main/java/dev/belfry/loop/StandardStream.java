package dev.belfry.loop;

import static java.lang.System.Logger.Level.WARNING;

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
import org.jspecify.annotations.Nullable;

/**
 * Standard input, output or error on a loop. Whether calls block is a property of the open file,
 * which we share with the shell: so the stream is opened anew where that is possible (terminals,
 * pipes, devices), and elsewhere the flag is put back on close and when the program exits. Sockets
 * need no flag. A regular file never blocks either, and is not opened anew because its position is
 * shared too: we go on where the shell stopped, and it where we stop.
 */
public final class StandardStream extends ByteHandle {
  /** Puts the flag back; null if the open file is our own. */
  private final @Nullable Thread restore;

  private final int number;
  private final boolean regular;

  private StandardStream(
      EventLoop loop, Fd fd, int number, FileStatus status, @Nullable Thread restore) {
    super(
        loop,
        fd,
        status.isSocket() ? Kind.RECEIVE : Kind.READ,
        status.isSocket() ? Kind.SEND : Kind.WRITE);
    this.number = number;
    this.regular = status.isRegular();
    this.restore = restore;
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
      return new StandardStream(loop, copy, number, status, null);
    }
    Path path = Path.of("/proc/self/fd", Integer.toString(number));
    try {
      int flags = mode | OpenFlags.NON_BLOCKING | OpenFlags.NO_CONTROLLING_TERMINAL;
      return new StandardStream(loop, OpenFile.open(sys, path, flags, 0), number, status, null);
    } catch (ErrnoException notAgain) {
      Fd copy = FdFlags.duplicate(sys, number);
      return new StandardStream(loop, copy, number, status, borrowFlag(sys, number));
    }
  }

  /** Makes the shared open file non-blocking; returns what undoes that on exit, if need be. */
  private static @Nullable Thread borrowFlag(Sys sys, int number) throws IOException {
    if (FdFlags.isNonBlocking(sys, number)) {
      return null;
    }
    FdFlags.setNonBlocking(sys, number, true);
    var restore = new Thread(() -> returnFlag(sys, number), "belfry-restore-stream-" + number);
    Runtime.getRuntime().addShutdownHook(restore);
    return restore;
  }

  private static void returnFlag(Sys sys, int number) {
    try {
      FdFlags.setNonBlocking(sys, number, false);
    } catch (ErrnoException e) {
      System.getLogger(StandardStream.class.getName())
          .log(WARNING, "standard stream " + number + " stays non-blocking", e);
    }
  }

  @Override
  boolean isRegularFile() {
    return regular;
  }

  @Override
  void beforeClose() {
    if (restore != null) {
      try {
        Runtime.getRuntime().removeShutdownHook(restore);
      } catch (IllegalStateException exiting) {
        return; // then the hook does it
      }
      returnFlag(loop.sharedSys, number);
    }
  }
}
