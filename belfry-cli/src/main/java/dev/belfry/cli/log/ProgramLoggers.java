package dev.belfry.cli.log;

/**
 * Where the loggers of the libraries lead. In a command that prints its result and ends, what is
 * wrong goes to standard error; a service, once it has called {@link ServiceLog#open}, logs through
 * SLF4J and Logback.
 *
 * <p>The bridge that SLF4J has for this would load Logback in every command, because the JVM itself
 * asks for a logger when it exits.
 */
public final class ProgramLoggers extends System.LoggerFinder {
  /** For the service loader. */
  public ProgramLoggers() {}

  @Override
  public System.Logger getLogger(String name, Module module) {
    return new ProgramLogger(name);
  }
}
