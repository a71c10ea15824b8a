package dev.belfry.signals;

import java.io.PrintWriter;
import java.io.Writer;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Writes to log and telemetry, with the same fields in every record. Logging is asynchronous: one
 * thread writes the records in order. While it is blocked, say on a standard error that nobody
 * reads, up to {@value #KEPT} records are queued and the rest are dropped.
 */
// r[impl signals.observe.events]
final class Journal implements AutoCloseable {
  private static final String EVENT_PREFIX = "fulmen.";
  private static final int KEPT = 1000;

  private final SignalLog log;
  private final SignalTelemetry telemetry;
  private final ThreadPoolExecutor writer =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(KEPT),
          Thread.ofPlatform().daemon().name("belfry-signals-log").factory(),
          new ThreadPoolExecutor.DiscardPolicy());

  Journal(SignalLog log, SignalTelemetry telemetry) {
    this.log = log;
    this.telemetry = telemetry;
    writer.prestartAllCoreThreads(); // later there may be no memory for a thread
  }

  /** Writes a record and an event about a delivery; details alternate names and values. */
  void tell(Level level, Delivery delivery, String event, String message, String... details) {
    Map<String, String> fields = fields(delivery, details);
    record(level, event, message, fields);
    emit(EVENT_PREFIX + event, fields);
  }

  /** Writes a record and an event about a failure, with its exception if there is one. */
  void tellFailure(
      Delivery delivery,
      String event,
      String message,
      @Nullable Throwable thrown,
      String... details) {
    Map<String, String> fields = fields(delivery, details);
    record(new SignalRecord(Level.ERROR, event, message, fields).withError(printable(thrown)));
    emit(EVENT_PREFIX + event, fields);
  }

  /** Writes only a record about a delivery. */
  void record(Level level, Delivery delivery, String event, String message, String... details) {
    record(level, event, message, fields(delivery, details));
  }

  /** Writes only a record, not about any delivery. */
  void record(Level level, String event, String message, Map<String, String> fields) {
    record(new SignalRecord(level, event, message, fields));
  }

  void record(SignalRecord record) {
    writer.execute(() -> isolated(() -> log.log(record)));
  }

  /** Waits until all records so far are written, but no longer than the limit. */
  void flush(Duration limit) {
    var written = new CountDownLatch(1);
    writer.execute(written::countDown);
    try {
      // If the log is blocked, the caller has more important things to do. A closed writer may have
      // discarded the latch; it terminates once all records are written.
      boolean _ =
          writer.isShutdown()
              ? writer.awaitTermination(limit.toNanos(), TimeUnit.NANOSECONDS)
              : written.await(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Accepts no more records; those queued are still written as long as the process lives. */
  @Override
  public void close() {
    writer.shutdown();
  }

  /** Emits only an event: a phase of the signal's behaviour begins. */
  void phase(Delivery delivery, String phase) {
    emit(EVENT_PREFIX + "signal.phase", fields(delivery, "phase", phase));
  }

  /** Emits an event whose name does not get the library's prefix. */
  void emit(String name, Map<String, String> tags) {
    isolated(() -> telemetry.event(name, tags));
  }

  void alert(Delivery delivery, String name, String... details) {
    isolated(() -> telemetry.alert(name, fields(delivery, details)));
  }

  void notice(String line) {
    isolated(() -> log.notice(line));
  }

  /**
   * The exception, or null if its stack trace cannot be printed: a log that tried could lose the
   * whole record.
   */
  private static @Nullable Throwable printable(@Nullable Throwable thrown) {
    try {
      if (thrown != null) {
        thrown.printStackTrace(new PrintWriter(Writer.nullWriter()));
      }
      return thrown;
    } catch (Throwable another) {
      return null;
    }
  }

  private static Map<String, String> fields(Delivery delivery, String... details) {
    var fields = new LinkedHashMap<String, String>();
    fields.put("signal", delivery.signal().name());
    fields.put("correlation_id", delivery.correlationId());
    for (int i = 0; i + 1 < details.length; i += 2) {
      fields.put(details[i], details[i + 1]);
    }
    return fields;
  }

  /** Calls a sink, whose failure must not keep the process from ending. */
  private static void isolated(Runnable sink) {
    try {
      sink.run();
    } catch (RuntimeException | Error e) {
      System.err.println("belfry: a sink for signal records failed: " + SignalRecord.textOf(e));
    }
  }
}
