package dev.belfry.cli.house;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The content of {@code docs/spec}: all rules, those pending and those set aside. */
final class Spec {
  static final String PENDING = "docs/spec/pending.txt";
  static final String SET_ASIDE = "docs/spec/set-aside.md";
  private static final String DIRECTORY = "docs/spec";
  private static final String DECISIONS = "docs/decisions.md";

  private static final Pattern DEFINITION = Pattern.compile("r\\[([^\\]\\s]*)]");
  private static final Pattern ID = Pattern.compile("[a-z0-9]+([.-][a-z0-9]+)+");
  private static final Pattern LINK =
      Pattern.compile("\\[[^\\]]+]\\(\\.\\./decisions\\.md#([^)]+)\\)");

  private final Project project;
  private final List<String> problems;

  /** Where each rule is defined: id to {@code file:line}. */
  private final Map<String, String> rules = new TreeMap<>();

  private final Set<String> pending = new TreeSet<>();
  private final Set<String> setAside = new TreeSet<>();

  private Spec(Project project, List<String> problems) {
    this.project = project;
    this.problems = problems;
  }

  /** Reads the specs of a project and adds their faults to the problems. */
  static Spec read(Project project, List<String> problems) throws IOException {
    var spec = new Spec(project, problems);
    spec.readDefinitions();
    spec.readPending();
    spec.readSetAside();
    return spec;
  }

  Map<String, String> rules() {
    return rules;
  }

  Set<String> pending() {
    return pending;
  }

  Set<String> setAside() {
    return setAside;
  }

  /** Returns the name of the file that defines a rule, without directory and extension. */
  String nameOfSpec(String id) {
    return rules.getOrDefault(id, "?").replaceFirst("\\.md:.*", "").replaceFirst(".*/", "");
  }

  private void readDefinitions() throws IOException {
    for (String file : specFiles()) {
      List<String> lines = project.lines(file);
      for (int i = 0; i < lines.size(); i++) {
        Matcher definition = DEFINITION.matcher(lines.get(i).strip());
        if (definition.matches()) {
          define(definition.group(1), file + ":" + (i + 1));
        }
      }
    }
    if (rules.isEmpty()) {
      problems.add(DIRECTORY + ": no rule is defined there");
    }
  }

  private List<String> specFiles() throws IOException {
    Path directory = project.root().resolve(DIRECTORY);
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .map(file -> DIRECTORY + "/" + file.getFileName())
          .filter(file -> file.endsWith(".md"))
          .sorted()
          .toList();
    }
  }

  private void define(String id, String place) {
    if (!ID.matcher(id).matches()) {
      problems.add(place + ": '" + id + "' is no id; write words in small letters with dots");
      return;
    }
    String before = rules.putIfAbsent(id, place);
    if (before != null) {
      problems.add(place + ": rule " + id + " is defined already at " + before + "; delete one");
    }
  }

  private void readPending() throws IOException {
    List<String> lines = project.lines(PENDING);
    for (int i = 0; i < lines.size(); i++) {
      String id = lines.get(i).strip();
      if (!id.isEmpty() && !id.startsWith("#")) {
        list(pending, id, PENDING + ":" + (i + 1));
      }
    }
  }

  private void readSetAside() throws IOException {
    Set<String> anchors = anchors(project.lines(DECISIONS));
    List<String> lines = project.lines(SET_ASIDE);
    boolean inBody = false;
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (!line.startsWith("|")) {
        inBody = false;
      } else if (line.matches("[|:\\s-]+")) {
        inBody = true; // the line below the column heads
      } else if (inBody) {
        readRow(cells(line), SET_ASIDE + ":" + (i + 1), anchors);
      }
    }
  }

  private void readRow(List<String> cells, String place, Set<String> anchors) {
    if (cells.size() != 3 || !cells.getFirst().matches("`[^`]+`")) {
      problems.add(place + ": a row is the id in backticks, the reason, and the link");
      return;
    }
    list(setAside, cells.getFirst().replace("`", ""), place);
    if (cells.get(1).isEmpty()) {
      problems.add(place + ": the reason is missing; say why the rule is not built");
    }
    Matcher link = LINK.matcher(cells.get(2));
    if (!link.matches()) {
      problems.add(place + ": the link is missing; write [title](../decisions.md#title)");
    } else if (!anchors.contains(link.group(1))) {
      problems.add(place + ": " + DECISIONS + " has no heading for #" + link.group(1));
    }
  }

  private void list(Set<String> list, String id, String place) {
    if (!rules.containsKey(id)) {
      problems.add(place + ": " + id + " is no rule; delete it or correct its id");
    } else if (!list.add(id)) {
      problems.add(place + ": " + id + " is listed twice; delete one");
    }
  }

  private static List<String> cells(String row) {
    String inside = row.replaceFirst("^\\|", "").replaceFirst("\\|$", "");
    var cells = new ArrayList<String>();
    for (String cell : inside.split("\\|", -1)) {
      cells.add(cell.strip());
    }
    return cells;
  }

  /** Returns the anchors of Markdown headings: lower case, no punctuation, hyphens for spaces. */
  private static Set<String> anchors(List<String> lines) {
    var anchors = new HashSet<String>();
    for (String line : lines) {
      if (line.startsWith("#")) {
        String title = line.replaceFirst("^#+", "").strip().toLowerCase(Locale.ROOT);
        anchors.add(title.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'));
      }
    }
    return anchors;
  }
}
