package dev.belfry.admin;

import dev.belfry.signals.Registration;
import dev.belfry.signals.SignalLog;
import dev.belfry.signals.SignalRecord;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/**
 * Keeps the latest events of a host for those who look later, and tells them to those who look now.
 * All methods may be called from any thread.
 */
public final class HostEvents {
  /** How many are kept. */
  static final int KEPT = 200;

  private static final int MAX_TEXT = 400;

  private final Clock clock;
  // Both are guarded by this; listeners are called under it, so that all get them in one order.
  private final Deque<HostEvent> latest = new ArrayDeque<>();
  private final List<Consumer<HostEvent>> listeners = new ArrayList<>();

  /** Nothing has happened yet. */
  public HostEvents() {
    this(Clock.systemUTC());
  }

  HostEvents(Clock clock) {
    this.clock = clock;
  }

  /**
   * Something has happened just now.
   *
   * @param kind see {@link HostEvent}
   * @param text what; shortened if it is very long
   */
  public synchronized void add(String kind, String text) {
    String shown = text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) + "…" : text;
    var event = new HostEvent(clock.instant(), kind, shown);
    latest.addLast(event);
    if (latest.size() > KEPT) {
      latest.removeFirst();
    }
    listeners.forEach(listener -> listener.accept(event));
  }

  /** What {@link HostView#onEvent} promises. */
  public synchronized Registration onEvent(Consumer<HostEvent> listener) {
    latest.forEach(listener);
    listeners.add(listener);
    return () -> remove(listener);
  }

  private synchronized void remove(Consumer<HostEvent> listener) {
    listeners.remove(listener);
  }

  /**
   * A log that passes everything on and keeps, as events, which signals came and what became of
   * reloads.
   */
  public SignalLog watching(SignalLog log) {
    return new SignalLog() {
      @Override
      public void log(SignalRecord record) {
        keep(record);
        log.log(record);
      }

      @Override
      public void notice(String line) {
        log.notice(line);
      }
    };
  }

  private void keep(SignalRecord record) {
    String signal = record.fields().getOrDefault("signal", "");
    String reason = record.fields().getOrDefault("reason", "");
    String because = reason.isEmpty() ? "" : ": " + reason;
    switch (record.event()) {
      case "signal.received" ->
          add("signal", signal + " from " + record.fields().get("origin") + because);
      case "signal.ignored" -> add("signal", signal + " changes nothing, " + record.message());
      case "signal.reload_accepted" -> add("reload", record.message());
      case "signal.reload_rejected" -> add("reload", "rejected" + because);
      default -> {} // details that the log has
    }
  }
}
