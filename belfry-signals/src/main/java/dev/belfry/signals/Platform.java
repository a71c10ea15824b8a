package dev.belfry.signals;

import java.util.Locale;

/** An operating system, as far as its signals differ from those of others. */
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

  /** The platform that this JVM runs on; an unknown one counts as Linux. */
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

  /** Its name in log records and in the catalog's overrides, where macOS is {@code darwin}. */
  public String id() {
    return id;
  }

  /** Its column in the catalog's support table, where macOS is {@code macos}. */
  String column() {
    return column;
  }

  /**
   * Whether an exit code of 128 plus the signal's number means that the signal ended the process.
   */
  // r[impl signals.exit.probe]
  public boolean hasSignalExitCodes() {
    return this != WINDOWS;
  }
}
