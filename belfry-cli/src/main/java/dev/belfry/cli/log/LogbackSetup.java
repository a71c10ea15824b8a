package dev.belfry.cli.log;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.spi.ContextAwareBase;
import dev.belfry.cli.config.LoggingConfig;
import dev.belfry.cli.config.LoggingConfig.Format;
import java.util.List;

/** Configures Logback instead of configuration files. Logback finds it with the service loader. */
public final class LogbackSetup extends ContextAwareBase implements Configurator {
  private static final int QUEUE = 8192;
  private static final String QUEUE_NAME = "queue";

  /** For the service loader. */
  public LogbackSetup() {}

  @Override
  public ExecutionStatus configure(LoggerContext context) {
    LoggingConfig config = ServiceLog.config();
    ConsoleAppender<ILoggingEvent> console = console(context, config.format());

    // A pool's loop logs, and must not block on a terminal that is stopped.
    var queue = new AsyncAppender();
    queue.setContext(context);
    queue.setName(QUEUE_NAME);
    queue.setQueueSize(QUEUE);
    queue.setNeverBlock(true);
    queue.addAppender(console);
    queue.start();
    Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.convertAnSLF4JLevel(ServiceLog.of(config.level())));
    root.addAppender(queue);

    // Records about signals bypass the queue: the last one before a forced exit would be lost in
    // it. One thread writes them, and what the host does about a signal, which keeps them in order.
    for (String name : List.of("signal", "host")) {
      Logger straight = context.getLogger(name);
      straight.setAdditive(false);
      straight.addAppender(console);
    }
    context.getLogger("io.helidon").setLevel(Level.WARN); // it logs a banner and its features
    // The caller reports in one line why the server cannot start.
    context.getLogger("io.helidon.webserver.LoomServer").setLevel(Level.OFF);
    return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
  }

  /** Drains the queue, for at most the second that the appender allows. */
  static void flush(LoggerContext context) {
    Appender<ILoggingEvent> queue =
        context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).getAppender(QUEUE_NAME);
    if (queue != null) {
      queue.stop();
    }
  }

  private static ConsoleAppender<ILoggingEvent> console(LoggerContext context, Format format) {
    Encoder<ILoggingEvent> encoder =
        switch (format) {
          case TEXT -> text();
          case JSON -> json();
        };
    encoder.setContext(context);
    encoder.start();
    var console = new ConsoleAppender<ILoggingEvent>();
    console.setContext(context);
    console.setName("console");
    console.setTarget("System.err");
    console.setEncoder(encoder);
    console.start();
    return console;
  }

  private static PatternLayoutEncoder text() {
    var encoder = new PatternLayoutEncoder();
    encoder.setPattern("%d{yyyy-MM-dd HH:mm:ss.SSS} %-5level %msg%n");
    return encoder;
  }

  private static JsonEncoder json() {
    var encoder = new JsonEncoder();
    encoder.setWithContext(false);
    encoder.setWithMDC(false);
    encoder.setWithSequenceNumber(false);
    encoder.setWithNanoseconds(false);
    encoder.setWithArguments(false);
    encoder.setWithFormattedMessage(true);
    encoder.setWithMessage(false);
    return encoder;
  }
}
