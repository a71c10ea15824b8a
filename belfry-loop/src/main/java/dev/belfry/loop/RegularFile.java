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
 * A file on a disk. On epoll its operations are plain calls on the loop thread, and so is opening
 * it: they complete at once and hold the loop up for as long as the disk takes. A program that
 * reads much from slow disks should do so on threads of its own.
 *
 * <p>On io_uring the kernel waits for the disk and the loop goes on, and operations that name their
 * place in the file run at the same time. Meanwhile the kernel uses the buffer: its arena must not
 * be closed before the operation has completed, nor may the loop fail.
 */
public final class RegularFile extends ByteHandle {
  /** Whether it has places, once that is known; the loop's. */
  private @Nullable Boolean hasPlaces;

  RegularFile(EventLoop loop, Fd fd) {
    super(loop, fd, Kind.READ, Kind.WRITE);
  }

  /** What has no places, such as a FIFO or a terminal, is a file by its path alone. */
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

  /** Opens or creates a file relative to a directory that is open. */
  public static OpenOperation openAt(
      EventLoop loop, int directory, Path path, int flags, int mode) {
    return new OpenOperation(loop, directory, path, flags, mode);
  }

  /**
   * Reads what there is at a place in the file, up to a bufferful. What has no places, such as a
   * FIFO, gives ESPIPE.
   */
  public TransferOperation readAt(MemorySegment buffer, long offset) {
    return new TransferOperation(this, Kind.READ_AT, false).buffer(buffer).offset(offset);
  }

  /** Writes at a place in the file; ESPIPE where there are none. */
  public TransferOperation writeAt(MemorySegment buffer, long offset) {
    return new TransferOperation(this, Kind.WRITE_AT, false).buffer(buffer).offset(offset);
  }
}
