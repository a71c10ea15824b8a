package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;
import static dev.belfry.linux.Calls.callLong;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory shared between processes: anonymous files ({@code memfd_create(2)}), their size and their
 * seals, and mappings of any file ({@code mmap(2)}).
 */
public final class SharedFile {
  /** The seals can no longer be changed. */
  public static final int SEAL_SEAL = 1;

  /** The file can never shrink, so that no access to a mapping can fault. */
  public static final int SEAL_SHRINK = 2;

  /** The file can never grow. */
  public static final int SEAL_GROW = 4;

  /** The file can no longer be written. */
  public static final int SEAL_WRITE = 8;

  private static final int MFD_CLOEXEC = 1;
  private static final int MFD_ALLOW_SEALING = 2;
  private static final int F_ADD_SEALS = 1033;
  private static final int F_GET_SEALS = 1034;

  private static final int PROT_READ = 1;
  private static final int PROT_WRITE = 2;
  private static final int MAP_SHARED = 1;

  private SharedFile() {}

  /**
   * Creates an empty anonymous file that can be sealed.
   *
   * @param name shown in {@code /proc} only; need not be unique
   */
  public static Fd createAnonymous(Sys sys, String name) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocateFrom(name);
      int number =
          call("memfd_create", name, () -> sys.memfdCreate(text, MFD_CLOEXEC | MFD_ALLOW_SEALING));
      return Fd.own(sys, number, "memfd " + name);
    }
  }

  /** Sets the length; new bytes are zero and use no memory until touched. */
  public static void truncate(Sys sys, int fd, long length) throws ErrnoException {
    call("ftruncate", length + " bytes", () -> sys.ftruncate(fd, length));
  }

  /**
   * Allocates the memory for the first bytes of the file now, and extends it to that length. If
   * there is not enough, this call fails, instead of a later access to a mapping with SIGBUS.
   */
  public static void allocate(Sys sys, int fd, long length) throws ErrnoException {
    call("fallocate", length + " bytes", () -> sys.fallocate(fd, 0, 0, length));
  }

  /** Adds seals, which cannot be removed. */
  public static void seal(Sys sys, int fd, int seals) throws ErrnoException {
    call("fcntl", "F_ADD_SEALS", () -> sys.fcntl(fd, F_ADD_SEALS, seals));
  }

  /** The seals of an anonymous file. */
  public static int seals(Sys sys, int fd) throws ErrnoException {
    return call("fcntl", "F_GET_SEALS", () -> sys.fcntl(fd, F_GET_SEALS, 0));
  }

  /**
   * Maps the first bytes of a file, shared with every process that does the same. The descriptor
   * may be closed afterwards.
   *
   * @param sys must be for any thread if another thread may close the arena, as with a shared or an
   *     automatic one
   * @param writable whether the memory can be written
   * @param arena unmaps the memory when it is closed; the global arena never does
   * @return exactly {@code length} bytes
   */
  public static MemorySegment map(Sys sys, int fd, long length, boolean writable, Arena arena)
      throws ErrnoException {
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    long address =
        callLong(
            "mmap",
            length + " bytes of descriptor " + fd,
            () -> sys.mmap(0, length, protection, MAP_SHARED, fd, 0));
    MemorySegment mapping = mapping(sys, address, length, arena);
    return writable ? mapping : mapping.asReadOnly();
  }

  @SuppressWarnings("restricted")
  private static MemorySegment mapping(Sys sys, long address, long length, Arena arena) {
    try {
      return MemorySegment.ofAddress(address)
          .reinterpret(length, arena, _ -> sys.munmap(address, length));
    } catch (RuntimeException refused) { // the arena is closed, or another thread's
      sys.munmap(address, length);
      throw refused;
    }
  }
}
