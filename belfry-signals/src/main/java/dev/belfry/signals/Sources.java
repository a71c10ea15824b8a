package dev.belfry.signals;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;

/** Finds the best source of signals available to this process. */
final class Sources {
  private Sources() {}

  static SignalSource best(Platform platform, Journal journal) {
    for (SignalSourceProvider provider : ServiceLoader.load(SignalSourceProvider.class)) {
      Optional<String> cause = provider.unavailabilityCause();
      if (cause.isEmpty()) {
        try {
          return provider.open();
        } catch (IOException e) {
          cause = Optional.of(e.toString());
        }
      }
      journal.record(
          Level.INFO,
          "signal.source_unavailable",
          "signals come from the JVM's own dispatcher",
          Map.of("source", provider.getClass().getSimpleName(), "reason", cause.orElseThrow()));
    }
    return new JvmSource(platform);
  }
}
