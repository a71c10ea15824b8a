package dev.belfry.cli.signals;

import dev.belfry.signals.Platform;
import dev.belfry.signals.Signal;
import dev.belfry.signals.SignalCatalog;
import dev.belfry.signals.SignalSupport;
import dev.belfry.signals.Support;
import dev.belfry.signals.WindowsFallback;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** The signals of a catalog and their support on a platform, for people and for programs. */
record SignalList(List<Entry> entries, Platform platform) {
  /** One signal; the component names are the field names of the JSON form. */
  record Entry(
      String name,
      String id,
      int number,
      int exitCode,
      String behavior,
      @Nullable Long timeoutSeconds,
      boolean catchable,
      String platform,
      String support,
      boolean supported,
      @Nullable String fallback,
      @Nullable String operationHint,
      String description) {}

  static SignalList of(SignalCatalog catalog, Platform platform) {
    return new SignalList(
        catalog.supportOn(platform).stream().map(it -> entry(it, platform)).toList(), platform);
  }

  private static Entry entry(SignalSupport support, Platform platform) {
    Signal signal = support.signal();
    return new Entry(
        signal.name(),
        signal.id(),
        signal.number(platform),
        signal.exitCode(platform),
        signal.behavior().id(),
        signal.timeout().map(Duration::toSeconds).orElse(null),
        signal.isCatchable(),
        platform.id(),
        support.support().name().toLowerCase(Locale.ROOT),
        support.support() != Support.UNSUPPORTED,
        support.fallback().map(WindowsFallback::behavior).orElse(null),
        support.fallback().map(WindowsFallback::operationHint).orElse(null),
        signal.description());
  }

  void printJson(PrintWriter out) {
    out.println(JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(entries));
  }

  void printTable(PrintWriter out) {
    String row = "%-9s %6s %5s %6s  %-33s  %-13s  %s%n";
    out.printf(row, "SIGNAL", "NUMBER", "EXIT", "LIMIT", "BEHAVIOR", here(), "MEANING");
    for (Entry entry : entries) {
      String limit = entry.timeoutSeconds == null ? "" : entry.timeoutSeconds + " s";
      String support = entry.catchable ? entry.support : "not catchable";
      out.printf(
          row,
          entry.name,
          entry.number,
          entry.exitCode,
          limit,
          entry.behavior,
          support,
          entry.description);
      if (entry.operationHint != null) {
        out.printf(row, "", "", "", "", "", "", "instead: " + entry.operationHint);
      }
    }
  }

  private String here() {
    return "ON " + platform.id().toUpperCase(Locale.ROOT);
  }
}
