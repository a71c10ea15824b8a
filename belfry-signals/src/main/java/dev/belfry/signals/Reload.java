package dev.belfry.signals;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Validates the new configuration when a reload is requested, and counts failures. */
// r[impl signals.test.reload]
final class Reload {
  /** From this many consecutive failures on, each raises an alert. */
  private static final int STRIKES = 3;

  private static final String ALERT = "config_reload_failures";

  private final Journal journal;
  private final AtomicInteger failures = new AtomicInteger();
  private volatile @Nullable ReloadValidator validator;

  Reload(Journal journal) {
    this.journal = journal;
  }

  void validator(ReloadValidator validator) {
    this.validator = validator;
  }

  int failures() {
    return failures.get();
  }

  /**
   * Whether the new configuration is valid, so that the process may exit to be restarted with it.
   */
  // r[impl signals.reload.validate]
  boolean isAccepted(Delivery delivery) {
    journal.phase(delivery, "validate");
    ReloadValidator current = validator;
    if (current == null) {
      reject(
          delivery, "there is nothing to validate: the program has registered no validator", null);
      return false;
    }
    // r[impl signals.reload.log-receipt]
    journal.record(
        Level.INFO, delivery, "signal.reload_validating", "validating the new configuration");
    try {
      List<String> problems = current.problems();
      if (problems.isEmpty()) {
        failures.set(0); // r[impl signals.strikes.reset]
        journal.record(
            Level.INFO, delivery, "signal.reload_accepted", "the new configuration is valid");
        return true;
      }
      reject(delivery, "the new configuration is invalid: " + String.join("; ", problems), null);
    } catch (Throwable e) { // whatever it is, keep running with the old configuration
      reject(delivery, "the new configuration cannot be loaded: " + SignalRecord.textOf(e), e);
    } finally {
      Thread.interrupted(); // must not leak into the cleanups
    }
    strike(delivery);
    return false;
  }

  /** Whether a phase of a reload follows successful validation. */
  static boolean isAfterValidation(String phase) {
    return switch (phase) {
      case "notify", "validate", "reject_invalid" -> false; // already done
      case "restart" -> false; // r[impl signals.reload.supervisor]
      default -> true;
    };
  }

  // r[impl signals.reload.reject-log]
  // r[impl signals.reload.reject-continue]
  private void reject(Delivery delivery, String reason, @Nullable Throwable thrown) {
    journal.phase(delivery, "reject_invalid");
    journal.tellFailure(
        delivery,
        "signal.reload_rejected",
        "reload rejected, going on with the configuration in use",
        thrown,
        "reason",
        reason);
  }

  // r[impl signals.strikes.count]
  // r[impl signals.strikes.alert]
  private void strike(Delivery delivery) {
    int count = failures.incrementAndGet();
    if (count >= STRIKES) {
      String text = Integer.toString(count);
      journal.record(
          Level.ERROR,
          delivery,
          "signal.reload_failures",
          count + " reloads in a row have failed; look at where the configuration comes from",
          "severity",
          "critical",
          "failures",
          text);
      journal.alert(delivery, ALERT, "failures", text);
    }
  }
}
