package dev.belfry.signals;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A signal of a catalog. A catalog has one instance of each, so signals of the same catalog can be
 * compared by identity.
 *
 * @param id its id, such as {@code term}
 * @param name its name, such as {@code SIGTERM}
 * @param number its number on Linux
 * @param overrides its number on platforms where it differs from Linux
 * @param windowsEvent the Windows console event that it maps to
 * @param windowsFallback what Windows offers instead if there is no such event
 * @param description what it means
 * @param behavior what a program does when it arrives
 * @param timeout the time limit for a graceful shutdown
 * @param doubleTap what happens when it arrives twice, if its behaviour distinguishes that
 * @param cleanupActions what is cleaned up at shutdown, as prose
 * @param usageNotes advice
 */
public record Signal(
    String id,
    String name,
    int number,
    Map<Platform, Integer> overrides,
    Optional<String> windowsEvent,
    Optional<WindowsFallback> windowsFallback,
    String description,
    Behavior behavior,
    Optional<Duration> timeout,
    Optional<DoubleTap> doubleTap,
    List<String> cleanupActions,
    Optional<String> usageNotes) {
  /** Added to a signal's number to give the exit code of a process that it ended. */
  static final int EXIT_CODE_BASE = 128;

  /** The kernel lets no process catch these two, whatever a catalog says. */
  private static final Set<String> NOT_CATCHABLE = Set.of("SIGKILL", "SIGSTOP");

  /**
   * What happens when a signal arrives twice.
   *
   * @param window how long after the first signal a second one forces the exit
   * @param message the hint shown to the user after the first signal
   * @param exitCode the exit code when the second signal forces the exit
   */
  public record DoubleTap(Duration window, String message, int exitCode) {}

  public Signal {
    overrides = Map.copyOf(overrides);
    cleanupActions = List.copyOf(cleanupActions);
  }

  /** Its name without {@code SIG}. */
  public String shortName() {
    return name.substring("SIG".length());
  }

  /** Its number on a platform; Windows has no signal numbers and uses those of Linux. */
  public int number(Platform platform) {
    return overrides.getOrDefault(platform, number);
  }

  /** The exit code of a process that this signal ended, on a platform. */
  // r[impl signals.exit.128n]
  public int exitCode(Platform platform) {
    return EXIT_CODE_BASE + number(platform);
  }

  /** Whether a program can catch it at all. */
  public boolean isCatchable() {
    return !NOT_CATCHABLE.contains(name);
  }

  Signal withTimeout(Duration limit) {
    return new Signal(
        id,
        name,
        number,
        overrides,
        windowsEvent,
        windowsFallback,
        description,
        behavior,
        Optional.of(limit),
        doubleTap,
        cleanupActions,
        usageNotes);
  }

  @Override
  public String toString() {
    return name;
  }
}
