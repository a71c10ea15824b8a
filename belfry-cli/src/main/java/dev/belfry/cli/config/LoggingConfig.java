package dev.belfry.cli.config;

/**
 * The log of a host.
 *
 * @param format whom it is written for
 * @param level the lowest level that is logged
 */
public record LoggingConfig(Format format, System.Logger.Level level) {
  static final LoggingConfig DEFAULT = new LoggingConfig(Format.TEXT, System.Logger.Level.INFO);

  /** For whom a log is written. */
  public enum Format {
    /** A line of text for people. */
    TEXT,
    /** One JSON object per line, for programs. */
    JSON
  }
}
