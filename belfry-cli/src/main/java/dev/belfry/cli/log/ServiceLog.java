package dev.belfry.cli.log;

import ch.qos.logback.classic.LoggerContext;
import dev.belfry.cli.config.LoggingConfig;
import dev.belfry.cli.config.LoggingConfig.Format;
import dev.belfry.signals.SignalLog;
import dev.belfry.signals.SignalRecord;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * The log of a service and its libraries, on standard error. Thread-safe. Callers never wait for
 * the reader of standard error, except the one thread that logs about signals.
 */
public final class ServiceLog implements SignalLog {
  /** Null until a service opens the log. */
  private static volatile @Nullable LoggingConfig config;

  private final boolean asText;

  private ServiceLog(boolean asText) {
    this.asText = asText;
  }

  /** Opens the log; from now on this program is a service. */
  public static ServiceLog open(LoggingConfig logging) {
    config = logging;
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
      context.reset(); // a library may have logged, as in a command
      new LogbackSetup().configure(context);
    }
    Thread flush = Thread.ofPlatform().name("belfry-log-end").unstarted(ServiceLog::flush);
    Runtime.getRuntime().addShutdownHook(flush);
    return new ServiceLog(logging.format() == Format.TEXT);
  }

  static boolean isOpen() {
    return config != null;
  }

  /** Returns how the service logs; a command logs warnings and errors only. */
  static LoggingConfig config() {
    LoggingConfig current = config;
    return current != null ? current : new LoggingConfig(Format.TEXT, Level.WARNING);
  }

  static boolean isLoggable(String name, Level level) {
    return level != Level.OFF && LoggerFactory.getLogger(name).isEnabledForLevel(of(level));
  }

  static void log(String name, Level level, String message, @Nullable Throwable thrown) {
    at(name, level).setCause(thrown).log(message);
  }

  /** Logs a record under the first word of its event: as a line of text, or with all its fields. */
  @Override
  public void log(SignalRecord record) {
    String event = record.event();
    LoggingEventBuilder entry =
        at(event.substring(0, event.indexOf('.')), record.level()).setCause(record.error());
    if (asText) {
      entry.log(record.text());
    } else {
      entry = entry.addKeyValue("event", event);
      for (var field : record.fields().entrySet()) {
        entry = entry.addKeyValue(field.getKey(), field.getValue());
      }
      entry.log(record.message());
    }
  }

  /** Logs a notice. In JSON it is a record too: programs expect nothing but objects. */
  @Override
  public void notice(String line) {
    if (asText) {
      SignalLog.super.notice(line);
    } else {
      at("signal", Level.INFO).log(line);
    }
  }

  private static LoggingEventBuilder at(String name, Level level) {
    Logger logger = LoggerFactory.getLogger(name);
    return logger.atLevel(of(level));
  }

  static org.slf4j.event.Level of(Level level) {
    return switch (level) {
      case ALL, TRACE -> org.slf4j.event.Level.TRACE;
      case DEBUG -> org.slf4j.event.Level.DEBUG;
      case INFO -> org.slf4j.event.Level.INFO;
      case WARNING -> org.slf4j.event.Level.WARN;
      case ERROR, OFF -> org.slf4j.event.Level.ERROR;
    };
  }

  /**
   * Drains the queue, for at most a second. Stopping all of Logback instead would block forever if
   * nobody reads standard error.
   */
  private static void flush() {
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
      LogbackSetup.flush(context);
    }
  }
}
