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
 * Looks at the host once a second, remembers the last minutes for the charts, and tells all
 * viewers. It looks even when nobody is watching: whoever opens the page after something went wrong
 * wants to see how it came about.
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
  // Guarded by this, which also keeps what streams are told in one order.
  private final Map<ConsoleStream, Registration> streams = new HashMap<>();
  private final Deque<List<Number>> history = new ArrayDeque<>();
  private Optional<String> latest = Optional.empty();
  private boolean isClosed;

  /**
   * Begins to look.
   *
   * @param isEnding whether the process is on its way out
   * @param log where it reports that the host cannot be seen
   */
  ConsoleFeed(HostView view, BooleanSupplier isEnding, SignalLog log) {
    this.view = view;
    this.isEnding = isEnding;
    this.log = log;
    this.sampler = Thread.ofVirtual().name("belfry-console").start(this::sample);
  }

  /**
   * Begins a stream with what is known so far.
   *
   * @param isAllowed whether the viewer may still look
   * @param taken told whenever the viewer has taken something
   * @return empty if there are too many, or no more are wanted
   */
  synchronized Optional<ConsoleStream> open(BooleanSupplier isAllowed, Runnable taken) {
    if (isClosed || !hasRoom()) {
      return Optional.empty();
    }
    var stream = new ConsoleStream(isAllowed, taken, this::forget);
    stream.send("history", JSON.writeValueAsString(history));
    Registration events = view.onEvent(event -> stream.send("log", JSON.writeValueAsString(event)));
    streams.put(stream, events);
    latest.ifPresent(json -> stream.send("state", json)); // what comes after it is news
    return Optional.of(stream);
  }

  /** What signals do to this host in particular. */
  Map<String, String> meanings() {
    return view.meanings();
  }

  /** Whether there may be one more. */
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
        } catch (RuntimeException | Error e) { // the program's own; the next second may be better
          if (wasSeen) {
            tellUnseen(e);
          }
          wasSeen = false;
        }
        Thread.sleep(PERIOD);
      }
    } catch (InterruptedException e) {
      // Nobody is interested any more.
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
    Map<String, String> fields = Map.of("error", FailureText.of(e));
    log.log(
        new SignalRecord(
            Level.WARNING, "console.no_state", "the console cannot see the host", fields));
  }

  /** Ends all streams, and gives them a moment to say so. */
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
