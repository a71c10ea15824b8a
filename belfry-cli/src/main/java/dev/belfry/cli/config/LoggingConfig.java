package dev.belfry.cli.config;

/**
 * The configuration of a host's log.
 *
 * @param format the format of its lines
 * @param level the lowest level that is logged
 */
public record LoggingConfig(Format format, System.Logger.Level level) {
  static final LoggingConfig DEFAULT = new LoggingConfig(Format.TEXT, System.Logger.Level.INFO);

  /** The format of a log's lines. */
  public enum Format {
    /** A line of text for people. */
    TEXT,
    /** One JSON object per line, for programs. */
    JSON
  }
}
