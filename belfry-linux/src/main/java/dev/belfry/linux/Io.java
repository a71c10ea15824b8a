package dev.belfry.linux;

import static dev.belfry.linux.Errno.EINTR;

import java.lang.foreign.MemorySegment;

/**
 * Reads and writes descriptors ({@code read(2)}, {@code readv(2)}, {@code pread(2)}). Nothing here
 * allocates or throws: the result is a number of bytes, or {@code -errno}. Interrupted calls are
 * repeated. Buffers are native memory.
 */
public final class Io {
  private Io() {}

  /** Reads at most the size of the buffer; zero at the end of the file. */
  public static long read(Sys sys, int fd, MemorySegment buffer) {
    long result;
    do {
      result = sys.read(fd, buffer, buffer.byteSize());
    } while (result == -EINTR);
    return result;
  }

  /** Writes at most the whole buffer. */
  public static long write(Sys sys, int fd, MemorySegment buffer) {
    long result;
    do {
      result = sys.write(fd, buffer, buffer.byteSize());
    } while (result == -EINTR);
    return result;
  }

  /** Reads into several buffers, one after the other. */
  public static long read(Sys sys, int fd, Iovecs pieces) {
    long result;
    do {
      result = sys.readv(fd, pieces.segment(), pieces.count());
    } while (result == -EINTR);
    return result;
  }

  /** Writes several buffers, one after the other. */
  public static long write(Sys sys, int fd, Iovecs pieces) {
    long result;
    do {
      result = sys.writev(fd, pieces.segment(), pieces.count());
    } while (result == -EINTR);
    return result;
  }

  /** Reads at an offset in a file, without moving its position. */
  public static long readAt(Sys sys, int fd, MemorySegment buffer, long offset) {
    long result;
    do {
      result = sys.pread(fd, buffer, buffer.byteSize(), offset);
    } while (result == -EINTR);
    return result;
  }

  /** Writes at an offset in a file, without moving its position. */
  public static long writeAt(Sys sys, int fd, MemorySegment buffer, long offset) {
    long result;
    do {
      result = sys.pwrite(fd, buffer, buffer.byteSize(), offset);
    } while (result == -EINTR);
    return result;
  }
}
