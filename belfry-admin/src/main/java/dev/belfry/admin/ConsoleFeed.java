package dev.belfry.admin;

import dev.belfry.signals.Registration;
import dev.belfry.signals.SignalLog;
import dev.belfry.signals.SignalRecord;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/**
 * Samples the host once a second, keeps the last minutes for the charts, and feeds all viewers. It
 * samples even without viewers: an operator who opens the page after a failure wants to see what
 * led to it.
 */
final class ConsoleFeed implements AutoCloseable {
  static final int MAX_STREAMS = 16;
  static final int REMEMBERED = 300;

  private static final Duration PERIOD = Duration.ofSeconds(1);
  private static final Duration GOODBYE = Duration.ofMillis(500);
  private static final JsonMapper JSON =
      JsonMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();

  private final HostView view;
  private final BooleanSupplier isEnding;
  private final SignalLog log;
  private final Thread sampler;
  // Guarded by this, which also keeps the events in the same order for all streams.
  private final Map<ConsoleStream, Registration> streams = new HashMap<>();
  private final Deque<List<Number>> history = new ArrayDeque<>();
  private Optional<String> latest = Optional.empty();
  private boolean isClosed;

  /**
   * Starts sampling.
   *
   * @param isEnding whether the process is shutting down
   * @param log where a failure to sample the host is logged
   */
  ConsoleFeed(HostView view, BooleanSupplier isEnding, SignalLog log) {
    this.view = view;
    this.isEnding = isEnding;
    this.log = log;
    this.sampler = Thread.ofVirtual().name("belfry-console").start(this::sample);
  }

  /**
   * Opens a stream, which starts with the history so far.
   *
   * @param isAllowed whether the viewer is still authorised
   * @param taken called after each event written to the viewer
   * @return empty if there are too many streams or this is closed
   */
  synchronized Optional<ConsoleStream> open(BooleanSupplier isAllowed, Runnable taken) {
    if (isClosed || !hasRoom()) {
      return Optional.empty();
    }
    var stream = new ConsoleStream(isAllowed, taken, this::forget);
    stream.send("history", JSON.writeValueAsString(history));
    Registration events = view.onEvent(event -> stream.send("log", JSON.writeValueAsString(event)));
    streams.put(stream, events);
    latest.ifPresent(
        json -> stream.send("state", json)); // log events after the first state are new ones
    return Optional.of(stream);
  }

  /** What signals do to this host in particular, by signal name. */
  Map<String, String> meanings() {
    return view.meanings();
  }

  /** Whether another stream may be opened. */
  synchronized boolean hasRoom() {
    return streams.size() < MAX_STREAMS;
  }

  private synchronized void forget(ConsoleStream stream) {
    Registration events = streams.remove(stream);
    if (events != null) {
      events.close();
    }
    notifyAll();
  }

  private void sample() {
    boolean wasSeen = true;
    try {
      while (true) {
        try {
          tell(view.state());
          wasSeen = true;
        } catch (RuntimeException
            | Error e) { // from the program's code; the next sample may succeed
          if (wasSeen) {
            tellUnseen(e);
          }
          wasSeen = false;
        }
        Thread.sleep(PERIOD);
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  private synchronized void tell(HostState state) {
    long now = System.currentTimeMillis();
    var shown = new LinkedHashMap<String, Object>();
    shown.put("at", now);
    shown.put("ending", isEnding.getAsBoolean());
    shown.put("host", state);
    String json = JSON.writeValueAsString(shown);
    latest = Optional.of(json);
    history.addLast(
        List.of(
            now,
            state.callsPerSecond(),
            state.p50Micros(),
            state.p99Micros(),
            state.ringDepth(),
            state.slotsUsed()));
    if (history.size() > REMEMBERED) {
      history.removeFirst();
    }
    if (!isClosed) {
      streams.keySet().forEach(stream -> stream.send("state", json));
    }
  }

  private void tellUnseen(Throwable e) {
    Map<String, String> fields = Map.of("error", SignalRecord.textOf(e));
    log.log(
        new SignalRecord(
            Level.WARNING, "console.no_state", "the console cannot see the host", fields));
  }

  /** Ends all streams, briefly waiting for them to tell their viewers. */
  @Override
  public synchronized void close() {
    isClosed = true;
    sampler.interrupt();
    streams.keySet().forEach(ConsoleStream::finish);
    long deadline = System.nanoTime() + GOODBYE.toNanos();
    try {
      while (!streams.isEmpty() && deadline - System.nanoTime() > 0) {
        wait(Math.max(1, Duration.ofNanos(deadline - System.nanoTime()).toMillis()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
