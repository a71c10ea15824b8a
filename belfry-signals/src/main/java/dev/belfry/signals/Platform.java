package dev.belfry.signals;

import java.util.Locale;

/** An operating system, as far as signals differ between them. */
// r[impl signals.lib.platform]
public enum Platform {
  LINUX("linux", "linux"),
  MACOS("darwin", "macos"),
  FREEBSD("freebsd", "freebsd"),
  WINDOWS("windows", "windows");

  private final String id;
  private final String column;

  Platform(String id, String column) {
    this.id = id;
    this.column = column;
  }

  /** The platform this JVM runs on; one that is none of these counts as Linux. */
  public static Platform current() {
    String os = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    if (os.contains("windows")) {
      return WINDOWS;
    }
    if (os.contains("mac") || os.contains("darwin")) {
      return MACOS;
    }
    return os.contains("freebsd") ? FREEBSD : LINUX;
  }

  /** Its name in log records and in the overrides of the catalog: macOS is {@code darwin} there. */
  public String id() {
    return id;
  }

  /** Its column in the catalog's table of support, where macOS is {@code macos}. */
  String column() {
    return column;
  }

  /** Whether a process that a signal has ended shows it as 128 plus the number. */
  // r[impl signals.exit.probe]
  public boolean hasSignalExitCodes() {
    return this != WINDOWS;
  }
}
