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
 * Locks on open files, which the kernel drops when the last descriptor of the open file is closed,
 * and so also when its owner dies: open-file-description locks ({@code fcntl(2)}) and {@code
 * flock(2)}. The two do not see each other.
 */
public final class FileLocks {
  /**
   * What {@code fcntl} wants:
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

  /** How much a lock excludes. */
  public enum Mode {
    /** Others may hold it too in this mode. */
    SHARED,
    /** Nobody else may hold it. */
    EXCLUSIVE
  }

  /**
   * Some bytes of a file. A lock changes nothing about them; the file need not even have them.
   *
   * @param start the first
   * @param length how many
   */
  public record Range(long start, long length) {}

  /** Locks some bytes of the open file if nobody keeps us from it; says whether it did. */
  public static boolean tryLock(Sys sys, int fd, Range range, Mode mode) throws ErrnoException {
    return setLock(sys, fd, range, mode == Mode.SHARED ? F_RDLCK : F_WRLCK);
  }

  /** Gives a lock of {@link #tryLock} back. */
  public static void unlock(Sys sys, int fd, Range range) throws ErrnoException {
    setLock(sys, fd, range, F_UNLCK);
  }

  /** Whether somebody, by another open file, has a lock of {@link #tryLock} on any of the bytes. */
  public static boolean isLocked(Sys sys, int fd, Range range) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment flock =
          flock(arena, range, F_WRLCK); // the kernel writes down who is in its way
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
    MemorySegment flock = arena.allocate(FLOCK); // from the file's beginning, by no process
    flock.set(JAVA_SHORT, offset("type"), type);
    flock.set(JAVA_LONG, offset("start"), range.start);
    flock.set(JAVA_LONG, offset("len"), range.length);
    return flock;
  }

  private static long offset(String field) {
    return FLOCK.byteOffset(PathElement.groupElement(field));
  }

  /** Locks by {@code flock} if nobody keeps us from it; says whether it did. */
  public static boolean tryFlock(Sys sys, int fd, Mode mode) throws ErrnoException {
    int operation = LOCK_NB | (mode == Mode.SHARED ? LOCK_SH : LOCK_EX);
    return attempt("flock", fd, () -> sys.flock(fd, operation));
  }

  /** Gives a lock of {@link #tryFlock} back. */
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
