package dev.belfry.admin;

import dev.belfry.signals.Registration;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What the console shows of a host. All methods are called from any thread and answer at once: the
 * state is asked for once a second, however many people are watching.
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
  /** A snapshot of the host; rates and latencies are those of the last whole second. */
  HostState state();

  /**
   * Tells a listener the latest events, oldest first, and then every later one; one at a time. A
   * listener must return at once.
   *
   * @return ends this when closed
   */
  Registration onEvent(Consumer<HostEvent> listener);

  /**
   * What signals do to this host, where the catalog says something else or leaves it to the
   * program.
   *
   * @return sentences without a full stop, by names such as {@code USR1}
   */
  default Map<String, String> meanings() {
    return Map.of();
  }
}
