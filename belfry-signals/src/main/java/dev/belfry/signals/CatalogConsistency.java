package dev.belfry.signals;

import dev.belfry.signals.yaml.YamlMapping;
import dev.belfry.signals.yaml.YamlValue;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Checks the constraints between the parts of a catalog, which a schema cannot express. Expects
 * that every field has the right type.
 */
final class CatalogConsistency {
  private final Map<YamlValue, Signal> signals;
  private final Map<YamlValue, BehaviorDefinition> behaviors;
  private final YamlMapping document;
  private final Map<String, Signal> byName;

  CatalogConsistency(
      Map<YamlValue, Signal> signals,
      Map<YamlValue, BehaviorDefinition> behaviors,
      YamlMapping document) {
    this.signals = signals;
    this.behaviors = behaviors;
    this.document = document;
    this.byName =
        signals.values().stream()
            .collect(Collectors.toMap(Signal::name, it -> it, (first, _) -> first));
  }

  void check() {
    unique(signals, "id", Signal::id);
    unique(signals, "name", Signal::name);
    for (Platform platform : Platform.values()) {
      unique(signals, "unix_number", it -> it.number(platform) + " on " + platform.id());
    }
    unique(behaviors, "id", BehaviorDefinition::id);
    Set<String> defined =
        behaviors.values().stream().map(BehaviorDefinition::id).collect(Collectors.toSet());
    signals.forEach((place, signal) -> checkSignal(place.mapping(), signal, defined));
    document.optional("os_mappings").ifPresent(it -> checkMappings(it.mapping()));
    document.optional("exit_codes").ifPresent(it -> checkExitCodes(it.mapping()));
    document.optional("platform_support").ifPresent(this::checkSupport);
  }

  private static <T> void unique(
      Map<YamlValue, T> entries, String field, Function<T, String> value) {
    var seen = new HashMap<String, YamlValue>();
    entries.forEach(
        (place, entry) -> {
          YamlValue at = place.mapping().optional(field).orElse(place);
          YamlValue first = seen.putIfAbsent(value.apply(entry), at);
          if (first != null) {
            at.fault(value.apply(entry) + " is already that of line " + first.line());
          }
        });
  }

  private static void checkSignal(YamlMapping fields, Signal signal, Set<String> defined) {
    int expected = signal.exitCode(Platform.LINUX);
    equal(fields, "exit_code", expected);
    equal(fields, "double_tap_exit_code", expected);
    if (!defined.contains(signal.behavior().id())) {
      at(fields, "default_behavior").fault(signal.behavior().id() + " is not among the behaviors");
    }
    if (signal.behavior() == Behavior.GRACEFUL_SHUTDOWN_WITH_DOUBLE_TAP
        && signal.doubleTap().isEmpty()) {
      fields.self().fault("lacks double_tap_window_seconds, which its behavior needs");
    }
    fields
        .optional("validation_required")
        .filter(it -> !it.bool())
        .ifPresent(it -> it.fault("a reload without validation is not possible"));
    if (signal.isCatchable()
        && signal.windowsEvent().isEmpty()
        && signal.windowsFallback().isEmpty()) {
      fields.self().fault("lacks windows_fallback, which it needs without a windows_event");
    }
  }

  private void checkMappings(YamlMapping mappings) {
    numbers(mappings.optional("unix"), Platform.LINUX);
    mappings
        .optional("platform_overrides")
        .map(YamlValue::mapping)
        .ifPresent(
            it -> {
              numbers(it.optional("darwin"), Platform.MACOS);
              numbers(it.optional("freebsd"), Platform.FREEBSD);
            });
    Set<String> events =
        mappings.optional("windows").map(it -> it.mapping().fields().keySet()).orElse(Set.of());
    YamlMapping toEvent = at(mappings, "signal_to_event").mapping();
    toEvent
        .fields()
        .forEach(
            (name, value) -> {
              Optional<String> event =
                  value.isNull() ? Optional.empty() : Optional.of(value.text());
              known(name, value)
                  .filter(signal -> !signal.windowsEvent().equals(event))
                  .ifPresent(
                      signal ->
                          value.fault(
                              "does not agree with the signal, which has "
                                  + signal.windowsEvent().orElse("none")));
            });
    signals.forEach(
        (place, signal) ->
            signal
                .windowsEvent()
                .filter(event -> !events.contains(event))
                .ifPresent(
                    event ->
                        at(place.mapping(), "windows_event")
                            .fault(event + " is not among os_mappings.windows")));
  }

  private void numbers(Optional<YamlValue> numbers, Platform platform) {
    numbers
        .map(it -> it.mapping().fields())
        .orElse(Map.of())
        .forEach(
            (name, value) -> known(name, value).ifPresent(it -> equal(value, it.number(platform))));
  }

  private void checkExitCodes(YamlMapping codes) {
    codes
        .fields()
        .forEach(
            (name, value) -> {
              if (!name.equals("note")) {
                known(name, value).ifPresent(it -> equal(value, it.exitCode(Platform.LINUX)));
              }
            });
  }

  private void checkSupport(YamlValue rows) {
    var lines = new HashMap<String, Integer>();
    for (YamlValue row : rows.list(0)) {
      YamlValue name = at(row.mapping(), "signal");
      known(name.text(), name);
      Integer first = lines.putIfAbsent(name.text(), name.line());
      if (first != null) {
        name.fault(name.text() + " has a row already in line " + first);
      }
    }
  }

  private Optional<Signal> known(String name, YamlValue place) {
    Optional<Signal> signal = Optional.ofNullable(byName.get(name));
    if (signal.isEmpty()) {
      place.fault(name + " is not among the signals");
    }
    return signal;
  }

  private static void equal(YamlMapping fields, String field, int expected) {
    fields.optional(field).ifPresent(it -> equal(it, expected));
  }

  private static void equal(YamlValue value, int expected) {
    int number = value.integer(Integer.MIN_VALUE, Integer.MAX_VALUE);
    if (number != expected) {
      value.fault(number + " must be " + expected + ", to agree with the signal's number");
    }
  }

  /** The field, or the mapping itself if the field is missing. */
  private static YamlValue at(YamlMapping fields, String name) {
    return fields.optional(name).orElse(fields.self());
  }
}
