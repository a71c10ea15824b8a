package dev.belfry.signals;

import dev.belfry.signals.Signal.DoubleTap;
import dev.belfry.signals.yaml.YamlMapping;
import dev.belfry.signals.yaml.YamlValue;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Reads a catalog and enforces {@code signals.schema.json}. {@link CatalogConsistency} then checks
 * what a schema cannot express. Collects all faults instead of stopping at the first.
 */
// r[impl signals.catalog.schema]
final class CatalogReader {
  private static final Pattern NAME = Pattern.compile("SIG[A-Z0-9]+");

  private static final Pattern VERSION = Pattern.compile("[vV]?\\d+\\.\\d+\\.\\d+");
  private static final Pattern SIGNAL_ID = Pattern.compile("[a-z]|[a-z0-9][a-z0-9-]*[a-z0-9]");
  private static final Pattern BEHAVIOR_ID = Pattern.compile("[a-z]|[a-z0-9][a-z0-9_]*[a-z0-9]");
  private static final int MAX_NUMBER = 64;
  private static final int MAX_EXIT_CODE = 255;
  private static final List<String> FALLBACKS =
      List.of("http_admin_endpoint", "exception_handling", "timer_api");
  private static final Map<String, Level> LEVELS =
      Map.of("DEBUG", Level.DEBUG, "INFO", Level.INFO, "WARN", Level.WARNING, "ERROR", Level.ERROR);
  private static final List<Support> ON_WINDOWS = List.of(Support.values());
  private static final List<Support> ON_UNIX = List.of(Support.NATIVE, Support.UNSUPPORTED);
  private static final List<Platform> OVERRIDING = List.of(Platform.MACOS, Platform.FREEBSD);

  private final List<CatalogFault> faults = new ArrayList<>();

  private CatalogReader() {}

  static SignalCatalog read(String text, String source) throws CatalogException {
    var reader = new CatalogReader();
    Optional<SignalCatalog> catalog =
        YamlValue.parse(text, (line, at, why) -> reader.faults.add(new CatalogFault(line, at, why)))
            .map(document -> reader.catalog(document.mapping()));
    if (!reader.faults.isEmpty() || catalog.isEmpty()) {
      reader.faults.sort(Comparator.comparingInt(CatalogFault::line));
      throw new CatalogException(source, reader.faults);
    }
    return catalog.get();
  }

  private SignalCatalog catalog(YamlMapping document) {
    document.only(
        "$schema",
        "description",
        "version",
        "signals",
        "behaviors",
        "os_mappings",
        "platform_support",
        "exit_codes");
    document.optional("$schema").ifPresent(YamlValue::text);
    document.required("description").ifPresent(YamlValue::text);
    document.required("version").ifPresent(it -> it.text(VERSION));
    Map<YamlValue, Signal> signals = entries(document.required("signals"), CatalogReader::signal);
    Map<YamlValue, BehaviorDefinition> behaviors =
        entries(document.required("behaviors"), CatalogReader::behavior);
    var support = new LinkedHashMap<String, Map<Platform, Support>>();
    document
        .optional("platform_support")
        .ifPresent(rows -> rows.list(0).forEach(row -> support(row.mapping(), support)));
    document.required("os_mappings").ifPresent(it -> mappings(it.mapping()));
    document.required("exit_codes").ifPresent(it -> exitCodes(it.mapping()));
    if (faults.isEmpty()) {
      // Constraints between fields are only worth checking once each field is sound.
      new CatalogConsistency(signals, behaviors, document).check();
    }
    return new SignalCatalog(
        List.copyOf(signals.values()), List.copyOf(behaviors.values()), support);
  }

  /** The elements of a list, each with the value it was read from. */
  private static <T> Map<YamlValue, T> entries(
      Optional<YamlValue> list, Function<YamlMapping, T> read) {
    var entries = new LinkedHashMap<YamlValue, T>();
    list.map(it -> it.list(1))
        .orElse(List.of())
        .forEach(item -> entries.put(item, read.apply(item.mapping())));
    return entries;
  }

  private static Signal signal(YamlMapping fields) {
    fields.only(
        "id",
        "name",
        "unix_number",
        "platform_overrides",
        "windows_event",
        "windows_fallback",
        "description",
        "default_behavior",
        "exit_code",
        "timeout_seconds",
        "cleanup_actions",
        "double_tap_window_seconds",
        "double_tap_message",
        "double_tap_behavior",
        "double_tap_exit_code",
        "reload_strategy",
        "validation_required",
        "usage_notes");
    int exitCode = fields.required("exit_code").map(CatalogReader::exitCode).orElse(0);
    fields.optional("reload_strategy").ifPresent(it -> word(it, List.of("restart_based")));
    fields.optional("validation_required").ifPresent(YamlValue::bool);
    Behavior behavior =
        fields
            .required("default_behavior")
            .map(it -> it.oneOf(List.of(Behavior.values()), Behavior::id))
            .orElse(Behavior.CUSTOM);
    return new Signal(
        fields.required("id").map(it -> it.text(SIGNAL_ID)).orElse(""),
        fields.required("name").map(it -> it.text(NAME)).orElse("SIG"),
        fields.required("unix_number").map(CatalogReader::number).orElse(1),
        fields.optional("platform_overrides").map(CatalogReader::overrides).orElse(Map.of()),
        fields.optional("windows_event").filter(it -> !it.isNull()).map(YamlValue::text),
        fields.optional("windows_fallback").map(it -> fallback(it.mapping())),
        fields.required("description").map(YamlValue::text).orElse(""),
        behavior,
        fields.optional("timeout_seconds").map(CatalogReader::seconds),
        doubleTap(fields, behavior, exitCode),
        fields.optional("cleanup_actions").map(CatalogReader::texts).orElse(List.of()),
        fields.optional("usage_notes").map(YamlValue::text));
  }

  private static Optional<DoubleTap> doubleTap(
      YamlMapping fields, Behavior behavior, int exitCode) {
    fields.optional("double_tap_behavior").ifPresent(it -> word(it, List.of("immediate_exit")));
    Optional<Duration> window =
        fields.optional("double_tap_window_seconds").map(CatalogReader::seconds);
    String message = fields.optional("double_tap_message").map(YamlValue::text).orElse("");
    int forcedCode =
        fields.optional("double_tap_exit_code").map(CatalogReader::exitCode).orElse(exitCode);
    return behavior == Behavior.GRACEFUL_SHUTDOWN_WITH_DOUBLE_TAP
        ? window.map(it -> new DoubleTap(it, message, forcedCode))
        : Optional.empty();
  }

  private static Map<Platform, Integer> overrides(YamlValue value) {
    YamlMapping fields = value.mapping().only("darwin", "freebsd");
    var overrides = new EnumMap<Platform, Integer>(Platform.class);
    for (Platform platform : OVERRIDING) {
      fields.optional(platform.id()).ifPresent(it -> overrides.put(platform, number(it)));
    }
    return overrides;
  }

  private static WindowsFallback fallback(YamlMapping fields) {
    fields.only(
        "fallback_behavior",
        "log_level",
        "log_message",
        "log_template",
        "operation_hint",
        "telemetry_event",
        "telemetry_tags");
    var tags = new LinkedHashMap<String, String>();
    fields
        .required("telemetry_tags")
        .ifPresent(it -> it.mapping().fields().forEach((name, tag) -> tags.put(name, tag.text())));
    return new WindowsFallback(
        fields.required("fallback_behavior").map(it -> word(it, FALLBACKS)).orElse(""),
        fields
            .required("log_level")
            .map(it -> word(it, LEVELS.keySet().stream().sorted().toList()))
            .map(LEVELS::get)
            .orElse(Level.INFO),
        fields.required("log_message").map(YamlValue::text).orElse(""),
        fields.required("log_template").map(YamlValue::text).orElse(""),
        fields.required("operation_hint").map(YamlValue::text).orElse(""),
        fields.required("telemetry_event").map(YamlValue::text).orElse(""),
        tags);
  }

  private static BehaviorDefinition behavior(YamlMapping fields) {
    fields.only("id", "name", "description", "phases");
    List<YamlValue> phases = fields.required("phases").map(it -> it.list(1)).orElse(List.of());
    return new BehaviorDefinition(
        fields.required("id").map(it -> it.text(BEHAVIOR_ID)).orElse(""),
        fields.required("name").map(YamlValue::text).orElse(""),
        fields.required("description").map(YamlValue::text).orElse(""),
        phases.stream().map(it -> phase(it.mapping())).toList());
  }

  private static BehaviorDefinition.Phase phase(YamlMapping fields) {
    fields.only("name", "description");
    return new BehaviorDefinition.Phase(
        fields.required("name").map(YamlValue::text).orElse(""),
        fields.required("description").map(YamlValue::text).orElse(""));
  }

  private static void support(YamlMapping fields, Map<String, Map<Platform, Support>> support) {
    fields.only("signal", "linux", "macos", "freebsd", "windows", "fallback", "notes");
    var row = new EnumMap<Platform, Support>(Platform.class);
    for (Platform platform : Platform.values()) {
      List<Support> values = platform == Platform.WINDOWS ? ON_WINDOWS : ON_UNIX;
      fields
          .required(platform.column())
          .map(it -> it.oneOf(values, value -> SignalNames.lowerCase(value.name())))
          .ifPresent(value -> row.put(platform, value));
    }
    fields.optional("fallback").ifPresent(it -> word(it, FALLBACKS));
    fields.required("notes").ifPresent(YamlValue::text);
    fields
        .required("signal")
        .map(it -> it.text(NAME))
        .ifPresent(name -> support.putIfAbsent(name, Map.copyOf(row)));
  }

  private static void mappings(YamlMapping fields) {
    fields.only("unix", "windows", "platform_overrides", "signal_to_event");
    fields.required("unix").ifPresent(CatalogReader::numbers);
    fields.required("windows").ifPresent(CatalogReader::numbers);
    fields
        .optional("platform_overrides")
        .map(it -> it.mapping().only("darwin", "freebsd"))
        .ifPresent(it -> it.fields().values().forEach(CatalogReader::numbers));
    fields
        .required("signal_to_event")
        .ifPresent(
            it ->
                it.mapping().fields().values().stream()
                    .filter(event -> !event.isNull())
                    .forEach(YamlValue::text));
  }

  private static void numbers(YamlValue value) {
    value
        .mapping()
        .fields()
        .values()
        .forEach(it -> it.integer(Integer.MIN_VALUE, Integer.MAX_VALUE));
  }

  private static void exitCodes(YamlMapping codes) {
    codes.required("note").ifPresent(YamlValue::text);
    List.of("SIGTERM", "SIGINT", "SIGHUP").forEach(codes::required);
    codes
        .fields()
        .forEach(
            (name, code) -> {
              if (NAME.matcher(name).matches()) {
                exitCode(code);
              } else if (!name.equals("note")) {
                code.fault("is neither a signal nor the note");
              }
            });
  }

  private static int number(YamlValue value) {
    return value.integer(1, MAX_NUMBER);
  }

  private static int exitCode(YamlValue value) {
    return value.integer(0, MAX_EXIT_CODE);
  }

  private static Duration seconds(YamlValue value) {
    return Duration.ofSeconds(value.integer(0, Integer.MAX_VALUE));
  }

  private static String word(YamlValue value, List<String> words) {
    return value.oneOf(words, word -> word);
  }

  private static List<String> texts(YamlValue value) {
    return value.list(0).stream().map(YamlValue::text).toList();
  }
}
