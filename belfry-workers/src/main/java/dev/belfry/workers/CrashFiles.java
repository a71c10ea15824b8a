package dev.belfry.workers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Where workers leave files when they crash: the report of a JVM, or the core file of any program.
 */
final class CrashFiles {
  /** Where the kernel says how it names core files; see core(5). */
  static final Path CORE_PATTERN = Path.of("/proc/sys/kernel/core_pattern");

  private static final String ERROR_FILE = "-XX:ErrorFile=";
  private static final String DEFAULT_REPORT = "hs_err_pid%p.log";

  /** Where a JVM writes its report if it can write it nowhere else. */
  private static final Path LAST_RESORT = Path.of("/tmp");

  private static final Pattern SPECIFIER = Pattern.compile("%(.)|[^%]+");

  private final Path home;
  private final List<Path> reports;
  private final Path corePattern;

  /**
   * The files of the workers of a pool.
   *
   * @param corePattern a file with the pattern for the names of core files
   */
  CrashFiles(PoolOptions options, Path corePattern) {
    this.home = (options.directory == null ? Path.of("") : options.directory).toAbsolutePath();
    Stream<Path> asCommanded =
        options.command.stream()
            .filter(word -> word.startsWith(ERROR_FILE))
            .map(word -> home.resolve(word.substring(ERROR_FILE.length())));
    Stream<Path> otherwise =
        Stream.of(options.crashDirectory, home, LAST_RESORT)
            .filter(Objects::nonNull)
            .map(directory -> directory.toAbsolutePath().resolve(DEFAULT_REPORT));
    this.reports = Stream.concat(asCommanded, otherwise).toList();
    this.corePattern = corePattern;
  }

  /**
   * The file that a worker has left, if any.
   *
   * @param started when it was started: what is older is of an earlier process with the same id
   * @param coreDumped whether the kernel has written a core file
   */
  Optional<Path> find(int pid, Instant started, boolean coreDumped) {
    return reports.stream()
        .map(path -> Path.of(path.toString().replace("%p", Integer.toString(pid))))
        .filter(path -> !time(path).isBefore(started))
        .findFirst()
        .or(() -> coreDumped ? core(pid, started) : Optional.empty());
  }

  /** The newest core file whose name is as the pattern says. */
  private Optional<Path> core(int pid, Instant started) {
    try {
      String pattern = Files.readString(corePattern).strip();
      if (pattern.startsWith("|")) {
        return Optional.empty(); // the kernel hands it to a program, which keeps it where it likes
      }
      Path whole = home.resolve(pattern);
      String name = SPECIFIER.matcher(name(whole)).replaceAll(part -> expression(part, pid));
      Pattern names = Pattern.compile(name + "(\\." + pid + ")?"); // see core_uses_pid
      try (Stream<Path> files = Files.list(whole.getParent())) {
        return files
            .filter(file -> names.matcher(name(file)).matches())
            .filter(file -> !time(file).isBefore(started))
            .max(Comparator.comparing(CrashFiles::time));
      }
    } catch (IOException | RuntimeException e) { // such as an UncheckedIOException of the listing
      return Optional.empty();
    }
  }

  /** A regular expression for what takes the place of a part of the pattern. */
  private static String expression(MatchResult part, int pid) {
    String specifier = part.group(1);
    String expression =
        specifier == null
            ? Pattern.quote(part.group())
            : switch (specifier) {
              case "%" -> "%";
              case "p" -> Integer.toString(pid);
              default -> ".*";
            };
    return Matcher.quoteReplacement(expression);
  }

  private static String name(Path file) {
    return String.valueOf(file.getFileName());
  }

  /** When a file was last written; long ago if there is none. */
  private static Instant time(Path file) {
    try {
      return Files.getLastModifiedTime(file).toInstant();
    } catch (IOException none) {
      return Instant.MIN;
    }
  }
}
