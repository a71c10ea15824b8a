package dev.belfry.loop;

import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalLaunch;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Reports the threads in which signals are not blocked, and what to do about it. */
final class SignalGaps {
  private SignalGaps() {}

  /**
   * Checks every thread of this process.
   *
   * @throws IllegalStateException if a signal is not blocked in one of the threads
   */
  // r[impl sig.mask.all-threads] r[impl sig.attach]
  static void refuse(SigSet signals) throws IOException {
    List<SignalLaunch.Gap> gaps = SignalLaunch.gaps(signals);
    if (!gaps.isEmpty()) {
      throw new IllegalStateException(explain(signals, gaps));
    }
  }

  private static String explain(SigSet signals, List<SignalLaunch.Gap> gaps) {
    Map<SigSet, StringJoiner> threads = new LinkedHashMap<>();
    SigSet unblocked = SigSet.EMPTY;
    for (SignalLaunch.Gap gap : gaps) {
      unblocked = unblocked.union(gap.unblocked());
      threads
          .computeIfAbsent(gap.unblocked(), _ -> new StringJoiner(", "))
          .add(gap.thread().name() + " (" + gap.thread().tid() + ")");
    }
    String where =
        threads.entrySet().stream()
            .map(entry -> entry.getKey() + " in " + entry.getValue())
            .collect(Collectors.joining("; "));
    return """
        %s cannot be attached, because some are not blocked in every thread of this process: %s. \
        A thread that has a signal unblocked gets it, and it may end the process. Start the JVM \
        with them blocked: 'env --block-signal=%s _JAVA_SR_SIGNUM=64 java -Xrs ...'%s"""
        .formatted(signals, where, numbers(signals.signals()), otherWays(unblocked));
  }

  private static String otherWays(SigSet unblocked) {
    SigSet others = unblocked.minus(SignalLaunch.SIGNALS);
    if (!others.isEmpty()) {
      return "; neither the belfry launcher nor SignalLaunch.ensure blocks " + others + ".";
    }
    return ", as the belfry launcher does. "
        + (SignalLaunch.wasRelaunched()
            ? "That this JVM has started itself again was not enough."
            : "Or let the program start itself again: call SignalLaunch.ensure first in main.");
  }

  private static String numbers(IntStream signals) {
    return signals.mapToObj(Integer::toString).collect(Collectors.joining(","));
  }
}
