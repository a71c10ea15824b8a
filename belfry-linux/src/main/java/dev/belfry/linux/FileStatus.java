package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/**
 * The status of an open file ({@code fstat(2)}).
 *
 * @param device the device it is on
 * @param inode its inode number
 * @param links the number of its names; zero for a deleted file
 * @param mode type and permissions
 * @param uid its owner
 * @param size in bytes
 */
public record FileStatus(long device, long inode, long links, int mode, int uid, long size) {
  private static final int TYPE_MASK = 0xf000;
  private static final int SOCKET = 0xc000;
  private static final int REGULAR = 0x8000;
  private static final int DIRECTORY = 0x4000;
  private static final int PERMISSION_MASK = 0xfff;

  private static final StructLayout LAYOUT = layout(Arch.current());

  /**
   * {@code struct stat} as far as it is used; the rest is room for what the kernel writes. On
   * x86-64 ({@code asm/stat.h}) the link count comes before the mode, on aarch64 ({@code
   * asm-generic/stat.h}) after it and half as wide.
   */
  static StructLayout layout(Arch arch) {
    return switch (arch) {
      case X86_64 ->
          MemoryLayout.structLayout(
              JAVA_LONG.withName("dev"),
              JAVA_LONG.withName("ino"),
              JAVA_LONG.withName("nlink"),
              JAVA_INT.withName("mode"),
              JAVA_INT.withName("uid"),
              JAVA_INT.withName("gid"),
              MemoryLayout.paddingLayout(4),
              JAVA_LONG.withName("rdev"),
              JAVA_LONG.withName("size"),
              MemoryLayout.paddingLayout(88));
      case AARCH64 ->
          MemoryLayout.structLayout(
              JAVA_LONG.withName("dev"),
              JAVA_LONG.withName("ino"),
              JAVA_INT.withName("mode"),
              JAVA_INT.withName("nlink"),
              JAVA_INT.withName("uid"),
              JAVA_INT.withName("gid"),
              JAVA_LONG.withName("rdev"),
              MemoryLayout.paddingLayout(8),
              JAVA_LONG.withName("size"),
              MemoryLayout.paddingLayout(72));
    };
  }

  /** The status of an open file. */
  public static FileStatus of(Sys sys, int fd) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment stat = arena.allocate(LAYOUT);
      call("fstat", "descriptor " + fd, () -> sys.fstat(fd, stat));
      long links =
          Arch.current() == Arch.AARCH64
              ? stat.get(JAVA_INT, offset("nlink"))
              : stat.get(JAVA_LONG, offset("nlink"));
      return new FileStatus(
          stat.get(JAVA_LONG, offset("dev")),
          stat.get(JAVA_LONG, offset("ino")),
          links,
          stat.get(JAVA_INT, offset("mode")),
          stat.get(JAVA_INT, offset("uid")),
          stat.get(JAVA_LONG, offset("size")));
    }
  }

  /** Whether it is a regular file. */
  public boolean isRegular() {
    return (mode & TYPE_MASK) == REGULAR;
  }

  /** Whether it is a directory. */
  public boolean isDirectory() {
    return (mode & TYPE_MASK) == DIRECTORY;
  }

  /** Whether it is a socket. */
  public boolean isSocket() {
    return (mode & TYPE_MASK) == SOCKET;
  }

  /** The permission bits, such as 0600. */
  public int permissions() {
    return mode & PERMISSION_MASK;
  }

  private static long offset(String field) {
    return LAYOUT.byteOffset(PathElement.groupElement(field));
  }
}
