package dev.belfry.linux;

import static dev.belfry.linux.Errno.EAGAIN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.function.IntSupplier;

/**
 * Locks on open files, which the kernel releases when the last descriptor of the open file
 * description is closed, and so also when the owner dies: open-file-description locks ({@code
 * fcntl(2)}) and {@code flock(2)}. The two kinds ignore each other.
 */
public final class FileLocks {
  /**
   * The argument of {@code fcntl}:
   *
   * <pre>{@code
   * struct flock { short l_type; short l_whence; off_t l_start; off_t l_len; pid_t l_pid; };
   * }</pre>
   */
  static final StructLayout FLOCK =
      MemoryLayout.structLayout(
          JAVA_SHORT.withName("type"),
          JAVA_SHORT.withName("whence"),
          MemoryLayout.paddingLayout(4),
          JAVA_LONG.withName("start"),
          JAVA_LONG.withName("len"),
          JAVA_INT.withName("pid"),
          MemoryLayout.paddingLayout(4));

  private static final int F_OFD_GETLK = 36;
  private static final int F_OFD_SETLK = 37;
  private static final short F_RDLCK = 0;
  private static final short F_WRLCK = 1;
  private static final short F_UNLCK = 2;

  private static final int LOCK_SH = 1;
  private static final int LOCK_EX = 2;
  private static final int LOCK_NB = 4;
  private static final int LOCK_UN = 8;

  private FileLocks() {}

  /** The mode of a lock. */
  public enum Mode {
    /** Others may hold the lock in this mode too. */
    SHARED,
    /** No other may hold the lock. */
    EXCLUSIVE
  }

  /**
   * A range of bytes of a file. A lock does not affect the bytes; the file need not even have them.
   *
   * @param start the first byte
   * @param length the number of bytes
   */
  public record Range(long start, long length) {}

  /** Locks a range of the open file if no other lock conflicts; returns whether it did. */
  public static boolean tryLock(Sys sys, int fd, Range range, Mode mode) throws ErrnoException {
    return setLock(sys, fd, range, mode == Mode.SHARED ? F_RDLCK : F_WRLCK);
  }

  /** Releases a lock of {@link #tryLock}. */
  public static void unlock(Sys sys, int fd, Range range) throws ErrnoException {
    setLock(sys, fd, range, F_UNLCK);
  }

  /** Whether another open file description has a lock of {@link #tryLock} on any of the bytes. */
  public static boolean isLocked(Sys sys, int fd, Range range) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment flock = flock(arena, range, F_WRLCK); // the kernel fills in a conflicting lock
      Calls.call("fcntl", "lock of descriptor " + fd, () -> sys.fcntl(fd, F_OFD_GETLK, flock));
      return flock.get(JAVA_SHORT, offset("type")) != F_UNLCK;
    }
  }

  private static boolean setLock(Sys sys, int fd, Range range, short type) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment flock = flock(arena, range, type);
      return attempt("fcntl", fd, () -> sys.fcntl(fd, F_OFD_SETLK, flock));
    }
  }

  private static MemorySegment flock(Arena arena, Range range, short type) {
    MemorySegment flock = arena.allocate(FLOCK); // relative to the start of the file, pid 0
    flock.set(JAVA_SHORT, offset("type"), type);
    flock.set(JAVA_LONG, offset("start"), range.start);
    flock.set(JAVA_LONG, offset("len"), range.length);
    return flock;
  }

  private static long offset(String field) {
    return FLOCK.byteOffset(PathElement.groupElement(field));
  }

  /** Locks with {@code flock} if no other lock conflicts; returns whether it did. */
  public static boolean tryFlock(Sys sys, int fd, Mode mode) throws ErrnoException {
    int operation = LOCK_NB | (mode == Mode.SHARED ? LOCK_SH : LOCK_EX);
    return attempt("flock", fd, () -> sys.flock(fd, operation));
  }

  /** Releases a lock of {@link #tryFlock}. */
  public static void unflock(Sys sys, int fd) throws ErrnoException {
    attempt("flock", fd, () -> sys.flock(fd, LOCK_UN));
  }

  private static boolean attempt(String name, int fd, IntSupplier attempt) throws ErrnoException {
    try {
      Calls.call(name, "lock of descriptor " + fd, attempt);
      return true;
    } catch (ErrnoException e) {
      if (e.is(EAGAIN)) {
        return false;
      }
      throw e;
    }
  }
}
