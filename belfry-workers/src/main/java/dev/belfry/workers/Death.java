package dev.belfry.workers;

import java.io.Serializable;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How a worker ended.
 *
 * @param worker its name
 * @param pid its process id; 0 if it never started
 * @param exitCode its exit code, or 128 plus the number of the signal that killed it; -1 if it
 *     never started
 * @param how the same in words, with the reason if known
 * @param errorTail the last lines of its standard error
 * @param crashFile what it has left of its crash: the {@code hs_err} file of its JVM, or else its
 *     core file; null if neither was found
 */
public record Death(
    String worker, int pid, int exitCode, String how, String errorTail, @Nullable String crashFile)
    implements Serializable {
  static Death of(
      String worker, int pid, int exitCode, String how, String errorTail, Optional<Path> crash) {
    return new Death(worker, pid, exitCode, how, errorTail, crash.map(Path::toString).orElse(null));
  }
}
