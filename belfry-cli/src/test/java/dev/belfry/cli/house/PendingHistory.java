package dev.belfry.cli.house;

import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** The rules that have left the list of pending ones, according to the project's history. */
final class PendingHistory {
  private PendingHistory() {}

  /**
   * Returns the rules that left, with the commit that removed them.
   *
   * @return empty if there is no history
   */
  static Optional<Map<String, String>> left(Project project) throws IOException {
    // The whole history, merges included: a merge that keeps the old list brings a rule back, and
    // git would then not look at the side that lost.
    return new Git(project.root())
        .ask(
            "log",
            "--full-history",
            "-m",
            "--patch",
            "--unified=0",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--format=commit %h",
            "--",
            Spec.PENDING)
        .map(PendingHistory::removals);
  }

  private static Map<String, String> removals(String log) {
    var left = new TreeMap<String, String>();
    var removed = new HashSet<String>();
    var added = new HashSet<String>();
    String commit = "";
    boolean inChange = false;
    for (String line : log.lines().toList()) {
      if (line.startsWith("commit ")) {
        collect(left, removed, added, commit);
        commit = line.substring("commit ".length());
        inChange = false;
      } else if (line.startsWith("@@")) {
        inChange = true;
      } else if (inChange && line.startsWith("-")) {
        removed.add(line.substring(1).strip());
      } else if (inChange && line.startsWith("+")) {
        added.add(line.substring(1).strip());
      }
    }
    collect(left, removed, added, commit);
    return left;
  }

  /** Collects the lines that a commit removed and did not move within the file. */
  private static void collect(
      Map<String, String> left, Set<String> removed, Set<String> added, String commit) {
    for (String id : removed) {
      if (!added.contains(id)) {
        left.put(id, commit);
      }
    }
    removed.clear();
    added.clear();
  }
}
