package dev.belfry.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/**
 * The descriptors that were open in this process at one moment, by number, with what each refers to
 * ({@code /proc/self/fd}).
 */
public final class Descriptors {
  private static final Path OPEN = Path.of("/proc/self/fd");
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final long PAUSE_NANOS = 1_000_000;

  private final Map<Integer, String> targets;

  private Descriptors(Map<Integer, String> targets) {
    this.targets = targets;
  }

  /** The descriptors that are open now, less the one that this takes to look. */
  public static Descriptors now() {
    var targets = new TreeMap<Integer, String>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(OPEN)) {
      for (Path entry : entries) {
        try {
          String target = Files.readSymbolicLink(entry).toString();
          if (!target.equals("/proc/" + ProcessHandle.current().pid() + "/fd")) {
            targets.put(Integer.parseInt(entry.getFileName().toString()), target);
          }
        } catch (IOException closedMeanwhile) {
          // Another thread had it open for a moment.
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list " + OPEN, e);
    }
    return new Descriptors(targets);
  }

  /** How many there are. */
  public int count() {
    return targets.size();
  }

  /** What each number refers to. */
  public Map<Integer, String> targets() {
    return Map.copyOf(targets);
  }

  /**
   * What is open now and was not open then. The JVM opens files for a moment on threads of its own,
   * and keeps the jars it loads classes from; so this looks again for a while before it calls
   * something left open, and does not count jars.
   */
  public Map<Integer, String> openedSince() {
    return openedSince(PATIENCE);
  }

  Map<Integer, String> openedSince(Duration patience) {
    long deadline = System.nanoTime() + patience.toNanos();
    Map<Integer, String> more = difference();
    while (!more.isEmpty() && System.nanoTime() < deadline) {
      LockSupport.parkNanos(PAUSE_NANOS);
      more = difference();
    }
    return more;
  }

  private Map<Integer, String> difference() {
    var more = new TreeMap<>(now().targets);
    more.entrySet().removeAll(targets.entrySet());
    more.values().removeIf(target -> target.endsWith(".jar"));
    return more;
  }
}
