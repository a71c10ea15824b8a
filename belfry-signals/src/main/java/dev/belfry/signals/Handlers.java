package dev.belfry.signals;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** The program's handlers, by signal. */
final class Handlers {
  private final Map<String, CopyOnWriteArrayList<Entry>> bySignal = new ConcurrentHashMap<>();
  private final Journal journal;

  Handlers(Journal journal) {
    this.journal = journal;
  }

  // r[impl signals.register.api]
  SignalRegistration add(
      Signal signal, SignalHandler handler, Supplier<Optional<String>> inactiveReason) {
    var entry = new Entry(signal, handler, inactiveReason);
    of(signal).add(entry);
    return entry;
  }

  boolean isEmpty(Signal signal) {
    return of(signal).isEmpty();
  }

  /** The number of handlers for which the operating system can deliver the signal. */
  long active(Signal signal) {
    return of(signal).stream().filter(SignalRegistration::isActive).count();
  }

  /** Calls the handlers registered at this moment, in order of registration. */
  // r[impl signals.register.arg]
  void call(Delivery delivery) {
    for (Entry entry : of(delivery.signal())) {
      try {
        entry.handler.handle(delivery.signal());
      } catch (Throwable e) { // whatever it is, a signal that ends the process must still do so
        journal.tellFailure(
            delivery,
            "signal.handler_failed",
            "a handler of " + delivery.signal() + " failed",
            e,
            "error",
            SignalRecord.textOf(e));
      } finally {
        Thread.interrupted(); // must not leak into the next handler or a cleanup
      }
    }
  }

  private CopyOnWriteArrayList<Entry> of(Signal signal) {
    return bySignal.computeIfAbsent(signal.name(), _ -> new CopyOnWriteArrayList<>());
  }

  /** Compared by identity, so that closing removes this entry only. */
  private final class Entry implements SignalRegistration {
    private final Signal signal;
    private final SignalHandler handler;
    private final Supplier<Optional<String>> inactiveReason;

    Entry(Signal signal, SignalHandler handler, Supplier<Optional<String>> inactiveReason) {
      this.signal = signal;
      this.handler = handler;
      this.inactiveReason = inactiveReason;
    }

    @Override
    public Signal signal() {
      return signal;
    }

    @Override
    public Optional<String> inactiveReason() {
      return inactiveReason.get();
    }

    @Override
    public void close() {
      of(signal).remove(this);
    }
  }
}
