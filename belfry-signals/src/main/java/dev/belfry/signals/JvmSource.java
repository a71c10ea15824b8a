package dev.belfry.signals;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Signals from the JVM's own dispatcher, which handles each on a new thread. The JVM reserves QUIT
 * for thread dumps and, under {@code -Xrs}, does not deliver HUP, INT and TERM.
 */
final class JvmSource implements SignalSource {
  /**
   * The JVM names Windows console events after signals, except for this one, which it calls BREAK.
   */
  private static final String BREAK_EVENT = "CTRL_BREAK_EVENT";

  /** The JVM suspends threads with this signal, unless told to use another. */
  private static final String SUSPEND_SIGNAL = "SIGUSR2";

  private static final String SUSPEND_VARIABLE = "_JAVA_SR_SIGNUM";

  private final Platform platform;

  /** The previous handlers, to be restored. */
  private final Map<sun.misc.Signal, sun.misc.SignalHandler> before = new LinkedHashMap<>();

  JvmSource(Platform platform) {
    this.platform = platform;
  }

  @Override
  public String name() {
    return "jvm";
  }

  @Override
  public boolean onlyOnDemand(Signal signal) {
    return signal.name().equals(SUSPEND_SIGNAL)
        && platform != Platform.WINDOWS
        && System.getenv(SUSPEND_VARIABLE) == null;
  }

  // r[impl signals.platform.unix-native]
  // r[impl signals.test.unix-eight]
  @Override
  public synchronized Optional<String> subscribe(Signal signal, Receiver receiver) {
    try {
      var subscribed = new sun.misc.Signal(jvmName(signal));
      sun.misc.SignalHandler old =
          sun.misc.Signal.handle(subscribed, _ -> receiver.receive(signal));
      if (old == sun.misc.SignalHandler.SIG_IGN) {
        // For HUP, INT and TERM the JVM only reports SIG_IGN and installs nothing. It did install
        // our handler for any other signal, so undo that.
        sun.misc.Signal.handle(subscribed, sun.misc.SignalHandler.SIG_IGN);
        return Optional.of("it was ignored when the process started, as nohup and shells do");
      }
      before.put(subscribed, old);
      return Optional.empty();
    } catch (IllegalArgumentException refused) {
      return Optional.of(
          "the JVM keeps it for itself ("
              + refused.getMessage()
              + "); start the process with the signals blocked to have it");
    }
  }

  // r[impl signals.platform.windows-mapped]
  private String jvmName(Signal signal) {
    boolean isBreak =
        platform == Platform.WINDOWS
            && signal.windowsEvent().filter(BREAK_EVENT::equals).isPresent();
    return isBreak ? "BREAK" : signal.shortName();
  }

  @Override
  public synchronized void close() {
    before.forEach(sun.misc.Signal::handle);
    before.clear();
  }
}
