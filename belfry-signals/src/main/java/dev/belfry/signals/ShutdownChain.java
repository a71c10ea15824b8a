package dev.belfry.signals;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The cleanups to run at shutdown, each once, in reverse order of registration. */
final class ShutdownChain {
  private final List<Step> steps = new ArrayList<>();

  /** The step that is running, for messages. */
  private @Nullable Step running;

  /** A registered cleanup; compared by identity. */
  static final class Step {
    final ShutdownPhase phase;
    final String name;
    final Cleanup action;

    Step(ShutdownPhase phase, String name, Cleanup action) {
      this.phase = phase;
      this.name = name;
      this.action = action;
    }
  }

  // r[impl signals.cleanup.register]
  synchronized void add(Step step) {
    steps.add(step);
  }

  synchronized void remove(Step step) {
    steps.remove(step);
  }

  synchronized boolean hasAny(ShutdownPhase phase) {
    return steps.stream().anyMatch(step -> step.phase == phase);
  }

  /** Removes the next step of a phase for good, so that none ever runs twice. */
  // r[impl signals.cleanup.lifo]
  synchronized Optional<Step> takeLast(ShutdownPhase phase) {
    for (int i = steps.size() - 1; i >= 0; i--) {
      if (steps.get(i).phase == phase) {
        running = steps.remove(i);
        return Optional.of(running);
      }
    }
    running = null;
    return Optional.empty();
  }

  /** The names of the steps that have not finished, the running one first. */
  synchronized List<String> unfinished() {
    return Stream.concat(Stream.ofNullable(running), steps.reversed().stream())
        .map(step -> step.name)
        .toList();
  }
}
