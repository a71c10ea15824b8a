package dev.belfry.signals;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The signals that a program knows, with the behaviour of each. Immutable. Lookups never throw;
 * they return empty for what is not in the catalog.
 */
// r[impl signals.lookup.strict]
public final class SignalCatalog {
  private final List<Signal> signals;
  private final List<String> names;
  private final Map<String, Signal> byName = new LinkedHashMap<>();
  private final Map<String, Signal> byId = new LinkedHashMap<>();
  private final Map<String, Signal> byEvent = new LinkedHashMap<>();
  private final Map<Platform, Map<Integer, Signal>> byNumber = new EnumMap<>(Platform.class);
  private final Map<String, BehaviorDefinition> behaviors = new LinkedHashMap<>();
  private final Map<String, Map<Platform, Support>> support;

  SignalCatalog(
      List<Signal> signals,
      List<BehaviorDefinition> behaviors,
      Map<String, Map<Platform, Support>> support) {
    this.signals = List.copyOf(signals);
    this.names = this.signals.stream().map(Signal::name).toList();
    for (Signal signal : this.signals) {
      byName.put(signal.name(), signal);
      byId.put(signal.id(), signal);
      for (Platform platform : Platform.values()) {
        byNumber
            .computeIfAbsent(platform, _ -> new HashMap<>())
            .put(signal.number(platform), signal);
      }
      signal.windowsEvent().ifPresent(event -> byEvent.put(event, signal));
    }
    behaviors.forEach(behavior -> this.behaviors.put(behavior.id(), behavior));
    this.support = Map.copyOf(support);
  }

  /** The catalog bundled with the library. */
  // r[impl signals.lib.module]
  public static SignalCatalog bundled() {
    return Bundled.CATALOG;
  }

  /**
   * Reads a catalog from a file.
   *
   * @throws IOException if the file cannot be read
   * @throws CatalogException if the catalog is not valid; it has every fault with its line
   */
  public static SignalCatalog load(Path file) throws IOException, CatalogException {
    return parse(new String(Files.readAllBytes(file), StandardCharsets.UTF_8), file.toString());
  }

  /**
   * Reads a catalog from its text.
   *
   * @param source where the text comes from, for messages
   */
  public static SignalCatalog parse(String text, String source) throws CatalogException {
    return CatalogReader.read(text, source);
  }

  /**
   * Returns a copy of this catalog with another time limit for graceful shutdown. A signal with a
   * shorter limit than the longest, such as INT, keeps its own unless the new limit is shorter
   * still.
   */
  public SignalCatalog withTimeLimit(Duration limit) {
    Duration longest =
        signals.stream()
            .flatMap(signal -> signal.timeout().stream())
            .max(Comparator.naturalOrder())
            .orElse(limit);
    List<Signal> limited =
        signals.stream()
            .map(
                signal ->
                    signal
                        .timeout()
                        .filter(it -> it.equals(longest) || it.compareTo(limit) > 0)
                        .map(_ -> signal.withTimeout(limit))
                        .orElse(signal))
            .toList();
    return new SignalCatalog(limited, List.copyOf(behaviors.values()), support);
  }

  /** All signals, in catalog order. */
  public List<Signal> signals() {
    return signals;
  }

  /** All signal names, in catalog order. */
  // r[impl signals.resolve.list]
  public List<String> names() {
    return names;
  }

  /**
   * Resolves a signal from any of its usual spellings: {@code SIGTERM}, {@code TERM}, {@code term}
   * or {@code 15}. Numbers are those of Linux on every platform.
   */
  // r[impl signals.resolve.api]
  // r[impl signals.resolve.order]
  public Optional<Signal> resolve(@Nullable String text) {
    if (text == null) {
      return Optional.empty();
    }
    String trimmed = text.strip();
    if (trimmed.isEmpty()) {
      return Optional.empty();
    }
    String upper = SignalNames.upperCase(trimmed);
    return byName(trimmed)
        .or(() -> byNumber(SignalNames.number(trimmed)))
        .or(() -> byName(upper.startsWith("SIG") ? upper : "SIG" + upper))
        .or(() -> byId(SignalNames.lowerCase(trimmed)));
  }

  /**
   * The names that match a glob as a whole, in catalog order: {@code *} stands for any run of
   * characters, {@code ?} for one. Case is ignored.
   */
  // r[impl signals.resolve.match]
  public List<String> match(String glob) {
    String pattern = SignalNames.upperCase(glob.strip());
    return names.stream().filter(name -> SignalNames.matches(pattern, name)).toList();
  }

  /** Finds a signal by its exact name. */
  public Optional<Signal> byName(String name) {
    return Optional.ofNullable(byName.get(name));
  }

  /** Finds a signal by its exact id. */
  public Optional<Signal> byId(String id) {
    return Optional.ofNullable(byId.get(id));
  }

  /** Finds a signal by its number on Linux. */
  public Optional<Signal> byNumber(int number) {
    return byNumber(number, Platform.LINUX);
  }

  /** Finds a signal by its number on a platform. */
  public Optional<Signal> byNumber(int number, Platform platform) {
    return Optional.ofNullable(byNumber.get(platform)).map(numbers -> numbers.get(number));
  }

  /** Finds a signal by the Windows console event that it maps to. */
  public Optional<Signal> byWindowsEvent(String event) {
    return Optional.ofNullable(byEvent.get(event));
  }

  /** Finds the definition of a behaviour by its id. */
  public Optional<BehaviorDefinition> behavior(String id) {
    return Optional.ofNullable(behaviors.get(id));
  }

  /** All behaviours by id, in catalog order. */
  public Map<String, BehaviorDefinition> behaviors() {
    return Collections.unmodifiableMap(behaviors);
  }

  /**
   * How a platform supports a signal. A signal without a row in the catalog's support table is
   * native on Unix; on Windows it is mapped if it has a console event.
   */
  // r[impl signals.supports.matrix]
  public Support support(Signal signal, Platform platform) {
    Map<Platform, Support> row = support.get(signal.name());
    if (row != null) {
      return row.getOrDefault(platform, Support.UNSUPPORTED);
    }
    if (platform != Platform.WINDOWS) {
      return Support.NATIVE;
    }
    return signal.windowsEvent().isPresent() ? Support.MAPPED : Support.UNSUPPORTED;
  }

  /** Whether a platform supports a signal; false for a signal that is not in the catalog. */
  // r[impl signals.supports.deterministic]
  public boolean supports(String signal, Platform platform) {
    return resolve(signal).filter(it -> support(it, platform) != Support.UNSUPPORTED).isPresent();
  }

  /** How a platform supports each signal, in catalog order. */
  // r[impl signals.supports.reporting]
  public List<SignalSupport> supportOn(Platform platform) {
    return signals.stream()
        .map(
            signal -> {
              Support how = support(signal, platform);
              return new SignalSupport(
                  signal,
                  how,
                  how == Support.UNSUPPORTED ? signal.windowsFallback() : Optional.empty());
            })
        .toList();
  }

  /** Holds the bundled catalog, which is read on first use. */
  private static final class Bundled {
    private static final String RESOURCE = "signals.yaml";
    static final SignalCatalog CATALOG = read();

    private static SignalCatalog read() {
      try (InputStream resource = SignalCatalog.class.getResourceAsStream(RESOURCE)) {
        if (resource == null) {
          throw new IllegalStateException(RESOURCE + " is missing beside its class");
        }
        return parse(new String(resource.readAllBytes(), StandardCharsets.UTF_8), RESOURCE);
      } catch (CatalogException e) {
        throw new IllegalStateException(e);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
