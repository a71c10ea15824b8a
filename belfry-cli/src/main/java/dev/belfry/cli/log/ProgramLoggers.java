package dev.belfry.cli.log;

/**
 * Creates the loggers of the libraries. In a command that prints its result and ends, they write
 * warnings and errors to standard error. In a service, which has called {@link ServiceLog#open},
 * they log through SLF4J and Logback.
 *
 * <p>SLF4J's own bridge would load Logback in every command, because the JVM itself asks for a
 * logger when it exits.
 */
public final class ProgramLoggers extends System.LoggerFinder {
  /** For the service loader. */
  public ProgramLoggers() {}

  @Override
  public System.Logger getLogger(String name, Module module) {
    return new ProgramLogger(name);
  }
}
