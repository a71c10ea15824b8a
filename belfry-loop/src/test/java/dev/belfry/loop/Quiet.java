package dev.belfry.loop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** Captures the log of a class, so that a test can inspect it and the output stays clean. */
final class Quiet implements AutoCloseable {
  private final Logger logger;
  private final List<LogRecord> records = new CopyOnWriteArrayList<>();

  private Quiet(Logger logger) {
    this.logger = logger;
  }

  /** Captures the log of a class until closed. */
  static Quiet log(Class<?> of) {
    var quiet = new Quiet(Logger.getLogger(of.getName()));
    quiet.logger.setUseParentHandlers(false);
    quiet.logger.addHandler(quiet.handler);
    return quiet;
  }

  /** The messages so far. */
  List<String> messages() {
    var formatter = new SimpleFormatter();
    return records.stream().map(formatter::formatMessage).toList();
  }

  @Override
  public void close() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(true);
  }

  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord entry) {
          records.add(entry);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };
}
