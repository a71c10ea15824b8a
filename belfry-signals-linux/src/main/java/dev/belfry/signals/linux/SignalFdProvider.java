package dev.belfry.signals.linux;

import dev.belfry.linux.SignalLaunch;
import dev.belfry.signals.Platform;
import dev.belfry.signals.SignalSource;
import dev.belfry.signals.SignalSourceProvider;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Provides a signalfd as the source, if this process was started with its signals blocked. */
public final class SignalFdProvider implements SignalSourceProvider {
  /** For the service loader. */
  public SignalFdProvider() {}

  @Override
  public Optional<String> unavailabilityCause() {
    if (Platform.current() != Platform.LINUX) {
      return Optional.of("only Linux has it");
    }
    try {
      List<SignalLaunch.Gap> gaps = SignalLaunch.gaps(SignalFdSource.WANTED);
      return gaps.isEmpty()
          ? Optional.empty()
          : Optional.of(
              "this process was not started with its signals blocked: " + gaps.getFirst());
    } catch (IOException e) {
      return Optional.of("the signals of the threads cannot be read: " + e.getMessage());
    }
  }

  @Override
  public SignalSource open() throws IOException {
    return SignalFdSource.open();
  }
}
