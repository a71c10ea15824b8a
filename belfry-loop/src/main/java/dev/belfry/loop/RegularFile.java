package dev.belfry.loop;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Io;
import dev.belfry.linux.OpenFile;
import dev.belfry.loop.TransferOperation.Kind;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A file on disk. On epoll, its operations and its opening are plain calls on the loop thread: they
 * complete immediately and block the loop for as long as the disk takes. A program that reads a lot
 * from slow disks should do so on threads of its own.
 *
 * <p>On io_uring the kernel waits for the disk while the loop goes on, and operations with an
 * explicit offset run concurrently. The kernel uses the buffer meanwhile: its arena must not be
 * closed before the operation has completed, nor after the loop has failed.
 */
public final class RegularFile extends ByteHandle {
  /** Whether it is seekable, once that is known; loop thread only. */
  private @Nullable Boolean hasPlaces;

  RegularFile(EventLoop loop, Fd fd) {
    super(loop, fd, Kind.READ, Kind.WRITE);
  }

  /** Something that cannot seek, such as a FIFO or a terminal, is a file only by its path. */
  @Override
  boolean isRegularFile() {
    Boolean known = hasPlaces;
    if (known == null) {
      known = Io.readAt(loop.sys, fd.number(), MemorySegment.NULL, 0) != -Errno.ESPIPE;
      hasPlaces = known;
    }
    return known;
  }

  /**
   * Opens or creates a file.
   *
   * @param flags of {@link dev.belfry.linux.OpenFlags}
   * @param mode the permissions of a file that is created, less the umask
   */
  public static OpenOperation open(EventLoop loop, Path path, int flags, int mode) {
    return openAt(loop, OpenFile.WORKING_DIRECTORY, path, flags, mode);
  }

  /** Opens or creates a file relative to an open directory. */
  public static OpenOperation openAt(
      EventLoop loop, int directory, Path path, int flags, int mode) {
    return new OpenOperation(loop, directory, path, flags, mode);
  }

  /**
   * Reads what is available at an offset, up to the size of the buffer. Fails with ESPIPE if the
   * file cannot seek, such as a FIFO.
   */
  public TransferOperation readAt(MemorySegment buffer, long offset) {
    return new TransferOperation(this, Kind.READ_AT, false).buffer(buffer).offset(offset);
  }

  /** Writes at an offset; fails with ESPIPE if the file cannot seek. */
  public TransferOperation writeAt(MemorySegment buffer, long offset) {
    return new TransferOperation(this, Kind.WRITE_AT, false).buffer(buffer).offset(offset);
  }
}
