package dev.belfry.signals;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * One signal of a catalog. A catalog has each of its signals once, so they can be compared by
 * identity.
 *
 * @param id its id, such as {@code term}
 * @param name its name, such as {@code SIGTERM}
 * @param number its number on Linux
 * @param overrides its number on platforms where that differs
 * @param windowsEvent the console event of Windows that stands for it
 * @param windowsFallback what Windows has instead where there is no such event
 * @param description what it means
 * @param behavior what a program does about it
 * @param timeout how long an orderly end may take
 * @param doubleTap what happens when it comes twice, if it counts presses
 * @param cleanupActions what is done at the end, in words
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
  /** Added to a signal's number to get the exit code of a process that it ended. */
  static final int EXIT_CODE_BASE = 128;

  /** No catalog can change that the kernel keeps these two for itself. */
  private static final Set<String> NOT_CATCHABLE = Set.of("SIGKILL", "SIGSTOP");

  /**
   * What happens when a signal comes twice.
   *
   * @param window how long after the first one the second forces the exit
   * @param message what to tell the user after the first
   * @param exitCode the code with which the second one exits
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

  /** Its number on a platform; Windows has none and counts as Linux. */
  public int number(Platform platform) {
    return overrides.getOrDefault(platform, number);
  }

  /** The exit code of a process that it has ended, on a platform. */
  // r[impl signals.exit.128n]
  public int exitCode(Platform platform) {
    return EXIT_CODE_BASE + number(platform);
  }

  /** Whether a program can have it at all. */
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
