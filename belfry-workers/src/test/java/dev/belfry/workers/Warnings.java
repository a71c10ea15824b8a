package dev.belfry.workers;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Collects the warnings logged by a class while it is open. */
final class Warnings extends Handler implements AutoCloseable {
  final List<String> texts = new CopyOnWriteArrayList<>();
  final List<Throwable> thrown = new CopyOnWriteArrayList<>();
  private final Logger logger;

  Warnings(Class<?> of) {
    this.logger = Logger.getLogger(of.getName());
    logger.addHandler(this);
  }

  @Override
  public void publish(LogRecord entry) {
    if (entry.getLevel().intValue() >= Level.WARNING.intValue()) {
      texts.add(entry.getMessage());
      if (entry.getThrown() != null) {
        thrown.add(entry.getThrown());
      }
    }
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
  }
}
