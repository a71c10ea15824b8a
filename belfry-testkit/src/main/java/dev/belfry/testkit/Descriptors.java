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
 * A snapshot of the descriptors open in this process, by number, with what each refers to ({@code
 * /proc/self/fd}).
 */
public final class Descriptors {
  private static final Path OPEN = Path.of("/proc/self/fd");
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final long PAUSE_NANOS = 1_000_000;

  private final Map<Integer, String> targets;

  private Descriptors(Map<Integer, String> targets) {
    this.targets = targets;
  }

  /** Takes a snapshot, without the descriptor that it needs itself. */
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
          // Another thread had it open only briefly.
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
   * The descriptors that are open now but were not in this snapshot. Jars do not count, because the
   * JVM keeps those from which it loads classes. Since the JVM also opens files briefly on its own
   * threads, this retries for a while before it reports a descriptor as left open.
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
