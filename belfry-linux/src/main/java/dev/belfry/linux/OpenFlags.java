package dev.belfry.linux;

/** Flags for opening a file ({@code open(2)}). Those that differ on aarch64 are methods. */
public final class OpenFlags {
  public static final int READ_ONLY = 0;
  public static final int WRITE_ONLY = 1;
  public static final int READ_WRITE = 2;
  public static final int CREATE = 0x40;
  public static final int EXCLUSIVE = 0x80;
  public static final int NO_CONTROLLING_TERMINAL = 0x100;
  public static final int TRUNCATE = 0x200;
  public static final int APPEND = 0x400;
  public static final int NON_BLOCKING = 0x800;

  static final int CLOSE_ON_EXEC = 0x80000;

  private OpenFlags() {}

  /** Bypass the page cache ({@code O_DIRECT}). */
  public static int direct() {
    return direct(Arch.current());
  }

  /** Fail unless it is a directory ({@code O_DIRECTORY}). */
  public static int directory() {
    return directory(Arch.current());
  }

  /** Fail if the path ends in a symbolic link ({@code O_NOFOLLOW}). */
  public static int noFollow() {
    return noFollow(Arch.current());
  }

  static int direct(Arch arch) {
    return arch == Arch.AARCH64 ? 0x10000 : 0x4000;
  }

  static int directory(Arch arch) {
    return arch == Arch.AARCH64 ? 0x4000 : 0x10000;
  }

  static int noFollow(Arch arch) {
    return arch == Arch.AARCH64 ? 0x8000 : 0x20000;
  }
}
