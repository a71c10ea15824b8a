package dev.belfry.linux;

/** The machine architectures whose structures and system call numbers are known. */
public enum Arch {
  /** AMD64, where {@code struct epoll_event} is packed. */
  X86_64,
  /** 64-bit ARM, little endian. */
  AARCH64;

  private static final Arch CURRENT = of(System.getProperty("os.arch"));

  /**
   * The architecture this JVM runs on.
   *
   * @throws UnsupportedOperationException on any other architecture or system
   */
  public static Arch current() {
    return CURRENT;
  }

  static Arch of(String name) {
    return switch (name) {
      case "amd64", "x86_64" -> X86_64;
      case "aarch64" -> AARCH64;
      default ->
          throw new UnsupportedOperationException(
              "Belfry's Linux layer knows x86-64 and aarch64, not " + name);
    };
  }
}
