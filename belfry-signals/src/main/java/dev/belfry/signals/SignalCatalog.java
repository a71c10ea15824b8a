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
 * The signals that a program knows and what it does about each. Immutable; the indexes are built
 * once. Lookups never throw: what is not there is empty.
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

  /** The catalog that comes with the library. */
  // r[impl signals.lib.module]
  public static SignalCatalog bundled() {
    return Bundled.CATALOG;
  }

  /**
   * Reads another catalog.
   *
   * @throws IOException if the file cannot be read
   * @throws CatalogException if it is not a valid catalog, with every fault and its line
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
   * The same with another limit for an orderly end. A signal that has less time than others, as INT
   * does, keeps it unless the limit is even shorter.
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

  /** All signals, in the order of the catalog. */
  public List<Signal> signals() {
    return signals;
  }

  /** All names, in the order of the catalog. */
  // r[impl signals.resolve.list]
  public List<String> names() {
    return names;
  }

  /**
   * The signal that a text in any usual form means: {@code SIGTERM}, {@code TERM}, {@code term} or
   * {@code 15}. A number is always the one of Linux.
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
   * The names that a glob matches as a whole, in the order of the catalog: {@code *} is any run of
   * characters, {@code ?} is one, and case does not matter.
   */
  // r[impl signals.resolve.match]
  public List<String> match(String glob) {
    String pattern = SignalNames.upperCase(glob.strip());
    return names.stream().filter(name -> SignalNames.matches(pattern, name)).toList();
  }

  /** By the exact name. */
  public Optional<Signal> byName(String name) {
    return Optional.ofNullable(byName.get(name));
  }

  /** By the exact id. */
  public Optional<Signal> byId(String id) {
    return Optional.ofNullable(byId.get(id));
  }

  /** By the number of Linux. */
  public Optional<Signal> byNumber(int number) {
    return byNumber(number, Platform.LINUX);
  }

  /** By the number of a platform. */
  public Optional<Signal> byNumber(int number, Platform platform) {
    return Optional.ofNullable(byNumber.get(platform)).map(numbers -> numbers.get(number));
  }

  /** By the console event of Windows. */
  public Optional<Signal> byWindowsEvent(String event) {
    return Optional.ofNullable(byEvent.get(event));
  }

  /** What a behaviour does. */
  public Optional<BehaviorDefinition> behavior(String id) {
    return Optional.ofNullable(behaviors.get(id));
  }

  /** All behaviours by their ids, in the order of the catalog. */
  public Map<String, BehaviorDefinition> behaviors() {
    return Collections.unmodifiableMap(behaviors);
  }

  /**
   * How a platform has a signal. A signal without a row in the catalog's table is native on Unix,
   * and on Windows mapped if it has an event there.
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

  /** Whether a platform has a signal; a text that means none gives false. */
  // r[impl signals.supports.deterministic]
  public boolean supports(String signal, Platform platform) {
    return resolve(signal).filter(it -> support(it, platform) != Support.UNSUPPORTED).isPresent();
  }

  /** All signals with how a platform has them, in the order of the catalog. */
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

  /** The catalog of the library, read when it is first asked for. */
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
