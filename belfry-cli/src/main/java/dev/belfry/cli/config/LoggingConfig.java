package dev.belfry.cli.config;

/**
 * The log of a host.
 *
 * @param format for whom
 * @param level from which level on
 */
public record LoggingConfig(Format format, System.Logger.Level level) {
  static final LoggingConfig DEFAULT = new LoggingConfig(Format.TEXT, System.Logger.Level.INFO);

  /** For whom a log is written. */
  public enum Format {
    /** A line of text for people. */
    TEXT,
    /** An object a line for programs. */
    JSON
  }
}
