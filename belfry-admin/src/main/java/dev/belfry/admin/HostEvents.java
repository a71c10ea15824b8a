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
 * Keeps the latest events of a host for later viewers and passes new ones to current viewers.
 * Thread-safe.
 */
public final class HostEvents {
  /** The number of events kept. */
  static final int KEPT = 200;

  private static final int MAX_TEXT = 400;

  private final Clock clock;
  // Both guarded by this. Listeners are called with the lock held, so that all see the same order.
  private final Deque<HostEvent> latest = new ArrayDeque<>();
  private final List<Consumer<HostEvent>> listeners = new ArrayList<>();

  /** Creates an empty log of events. */
  public HostEvents() {
    this(Clock.systemUTC());
  }

  HostEvents(Clock clock) {
    this.clock = clock;
  }

  /**
   * Adds an event that has just happened.
   *
   * @param kind see {@link HostEvent}
   * @param text what happened; truncated if it is very long
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

  /** Implements {@link HostView#onEvent}. */
  public synchronized Registration onEvent(Consumer<HostEvent> listener) {
    latest.forEach(listener);
    listeners.add(listener);
    return () -> remove(listener);
  }

  private synchronized void remove(Consumer<HostEvent> listener) {
    listeners.remove(listener);
  }

  /**
   * Returns a log that forwards every record and adds events for received signals and the outcome
   * of reloads.
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
      default -> {} // details, left to the log
    }
  }
}
