package dev.belfry.admin;

import dev.belfry.signals.Registration;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A host as the console shows it. All methods may be called on any thread and must return
 * immediately. The state is sampled once a second, however many viewers there are.
 *
 * {@snippet :
 * var events = new HostEvents();
 * HostView view =
 *     new HostView() {
 *       public HostState state() {
 *         return new HostState(...);
 *       }
 *
 *       public Registration onEvent(Consumer<HostEvent> listener) {
 *         return events.onEvent(listener);
 *       }
 *     };
 * }
 */
public interface HostView {
  /** A snapshot of the host; rates and latencies are those of the last full second. */
  HostState state();

  /**
   * Passes a listener the latest events, oldest first, and then each new one, one at a time. The
   * listener must return immediately.
   *
   * @return a registration that removes the listener when closed
   */
  Registration onEvent(Consumer<HostEvent> listener);

  /**
   * What signals do to this host, where that differs from the catalog or the catalog leaves it
   * open.
   *
   * @return sentences without full stops, by short signal names such as {@code USR1}
   */
  default Map<String, String> meanings() {
    return Map.of();
  }
}
