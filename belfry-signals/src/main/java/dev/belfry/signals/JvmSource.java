package dev.belfry.signals;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Signals from the JVM's own dispatcher, which runs each on a thread of its own. It keeps QUIT for
 * its thread dump, and under {@code -Xrs} hands out none of HUP, INT and TERM.
 */
final class JvmSource implements SignalSource {
  /** The JVM knows console events of Windows by the names of signals, and has one more. */
  private static final String BREAK_EVENT = "CTRL_BREAK_EVENT";

  /** The JVM suspends threads with this one, unless it was told to use another. */
  private static final String SUSPEND_SIGNAL = "SIGUSR2";

  private static final String SUSPEND_VARIABLE = "_JAVA_SR_SIGNUM";

  private final Platform platform;

  /** What handled the signals before, to be put back. */
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
        // Of HUP, INT and TERM the JVM only says so and installs nothing; the others it took over.
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
