package dev.belfry.cli.house;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The marks in a project's files: where a rule is implemented and where it is verified. */
final class Marks {
  private static final Pattern MARK = Pattern.compile("(?<!\\w)r\\[([^\\]]*)]");
  private static final Set<String> KINDS = Set.of("impl", "verify");

  /** Modules whose whole purpose is testing. */
  private static final Set<String> TEST_MODULES = Set.of("belfry-testkit", "belfry-stress");

  private static final Pattern TEST_DIRECTORY = Pattern.compile("(^|/)tests?/");
  private static final Pattern TEST_FILE = Pattern.compile("(test[-_].*|.*[-_]test)\\.(c|sh|bash)");

  private final Set<String> rules;
  private final List<String> problems;
  private final Map<String, List<String>> impl = new TreeMap<>();
  private final Map<String, List<String>> verify = new TreeMap<>();

  private Marks(Set<String> rules, List<String> problems) {
    this.rules = rules;
    this.problems = problems;
  }

  /** Reads the marks of a project and adds their faults to the problems. */
  static Marks read(Project project, Set<String> rules, List<String> problems) throws IOException {
    var marks = new Marks(rules, problems);
    for (Path file : project.textFiles()) {
      List<String> lines = project.lines(file.toString());
      for (int i = 0; i < lines.size(); i++) {
        String place = file + ":" + (i + 1);
        for (MatchResult mark : MARK.matcher(lines.get(i)).results().toList()) {
          marks.read(mark.group(1), file, place);
        }
      }
    }
    return marks;
  }

  /** Returns the places, as {@code file:line}, where a rule is implemented. */
  List<String> impl(String id) {
    return impl.getOrDefault(id, List.of());
  }

  /** Returns the places where a rule is verified. */
  List<String> verify(String id) {
    return verify.getOrDefault(id, List.of());
  }

  private void read(String inside, Path file, String place) {
    List<String> words = List.of(inside.strip().split("[\\s,]+"));
    boolean isMark = words.size() > 1 && KINDS.contains(words.getFirst());
    boolean isDefinition = words.size() == 1 && file.startsWith("docs/spec");
    if (isMark && words.size() == 2 && inside.equals(String.join(" ", words))) {
      add(words.getFirst(), words.get(1), file, place);
    } else if (isMark || (!isDefinition && words.stream().anyMatch(rules::contains))) {
      problems.add(
          "%s: '%s' is no mark; write impl or verify, one space and one id"
              .formatted(place, inside));
    }
  }

  private void add(String kind, String id, Path file, String place) {
    if (!rules.contains(id)) {
      problems.add(place + ": the mark names no rule: " + id + "; correct or delete it");
    } else if (kind.equals("verify")) {
      if (!isTest(file) && !isTestModule(file)) {
        problems.add(place + ": " + id + " is marked as verified outside of tests; move the mark");
      }
      verify.computeIfAbsent(id, _ -> new ArrayList<>()).add(place);
    } else {
      if (isTest(file)) {
        problems.add(place + ": " + id + " is marked as implemented in a test; move the mark");
      }
      impl.computeIfAbsent(id, _ -> new ArrayList<>()).add(place);
    }
  }

  private static boolean isTestModule(Path file) {
    return TEST_MODULES.contains(file.getName(0).toString());
  }

  /** Whether a file is a test: by Maven's convention, or one in C or for a shell. */
  private static boolean isTest(Path file) {
    return TEST_DIRECTORY.matcher(file.toString()).find()
        || TEST_FILE.matcher(String.valueOf(file.getFileName())).matches();
  }
}
