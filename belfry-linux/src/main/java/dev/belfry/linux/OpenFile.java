package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.file.Path;

/** Opens files ({@code open(2)}, {@code openat2(2)}). */
public final class OpenFile {
  /** Stands for the working directory in place of a directory's descriptor. */
  public static final int WORKING_DIRECTORY = -100;

  /** Refuses paths that leave the directory they start from ({@code RESOLVE_BENEATH}). */
  public static final long RESOLVE_BENEATH = 0x08;

  /** Refuses any symbolic link on the way ({@code RESOLVE_NO_SYMLINKS}). */
  public static final long RESOLVE_NO_SYMLINKS = 0x04;

  /**
   * The third argument of {@code openat2}:
   *
   * <pre>{@code
   * struct open_how { __u64 flags; __u64 mode; __u64 resolve; };
   * }</pre>
   */
  static final StructLayout OPEN_HOW =
      MemoryLayout.structLayout(
          JAVA_LONG.withName("flags"), JAVA_LONG.withName("mode"), JAVA_LONG.withName("resolve"));

  private OpenFile() {}

  /**
   * Opens or creates a file, close-on-exec.
   *
   * @param flags of {@link OpenFlags}
   * @param mode the permissions of a file that is created, less the umask
   */
  public static Fd open(Sys sys, Path path, int flags, int mode) throws ErrnoException {
    return open(sys, WORKING_DIRECTORY, path, flags, mode);
  }

  /**
   * Opens or creates a file relative to a directory, close-on-exec, with {@code openat}.
   *
   * @param directory the directory's descriptor, or {@link #WORKING_DIRECTORY}
   */
  public static Fd open(Sys sys, int directory, Path path, int flags, int mode)
      throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom(CStrings.path(path), CStrings.BYTES);
      int number =
          call(
              "openat",
              path,
              () -> sys.openat(directory, name, flags | OpenFlags.CLOSE_ON_EXEC, mode));
      return Fd.own(sys, number, path.toString());
    }
  }

  /**
   * Opens or creates a file relative to a directory, with {@code openat2}.
   *
   * @param directory the directory's descriptor, or {@link #WORKING_DIRECTORY}
   * @param resolve what to refuse on the way, such as {@link #RESOLVE_BENEATH}, or zero
   */
  public static Fd openAt(Sys sys, int directory, Path path, int flags, int mode, long resolve)
      throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      Request request = request(arena, directory, path, flags, mode, resolve);
      MemorySegment how = request.how;
      int number =
          call("openat2", path, () -> sys.openat2(directory, request.name, how, how.byteSize()));
      return Fd.own(sys, number, path.toString());
    }
  }

  /** Encodes the arguments of {@link #openAt} for {@link SubmissionQueue#open}. */
  public static Request request(
      Arena arena, int directory, Path path, int flags, int mode, long resolve) {
    MemorySegment how =
        arena.allocateFrom(
            JAVA_LONG,
            Integer.toUnsignedLong(flags | OpenFlags.CLOSE_ON_EXEC),
            // openat2 rejects a mode if no file is to be created.
            (flags & OpenFlags.CREATE) != 0 ? mode : 0,
            resolve);
    MemorySegment name = arena.allocateFrom(CStrings.path(path), CStrings.BYTES);
    return new Request(directory, name, how);
  }

  /** A request to open a file. */
  public static final class Request {
    final int directory;
    final MemorySegment name;
    final MemorySegment how;

    private Request(int directory, MemorySegment name, MemorySegment how) {
      this.directory = directory;
      this.name = name;
      this.how = how;
    }
  }
}
