package dev.belfry.cli.house;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The rules of a project, each with its state. */
final class Rules {
  private enum State {
    BUILT,
    PENDING,
    SET_ASIDE
  }

  private final List<String> problems = new ArrayList<>();
  private final Spec spec;
  private final Marks marks;
  private final Optional<Map<String, String>> history;

  private Rules(Project project) throws IOException {
    this.spec = Spec.read(project, problems);
    this.marks = Marks.read(project, spec.rules().keySet(), problems);
    this.history = PendingHistory.left(project);
    spec.rules().forEach(this::check);
    history.ifPresent(this::checkReturned);
  }

  static Rules of(Project project) throws IOException {
    return new Rules(project);
  }

  /** Returns what is wrong, where, and what to do about it; empty if all is well. */
  List<String> problems() {
    return problems;
  }

  /** Whether there was a history to check that the list of pending rules only shrinks. */
  boolean hasHistory() {
    return history.isPresent();
  }

  private void check(String id, String place) {
    boolean implemented = !marks.impl(id).isEmpty();
    boolean verified = !marks.verify(id).isEmpty();
    String rule = place + ": rule " + id;
    switch (state(id)) {
      case PENDING -> {
        if (spec.setAside().contains(id)) {
          problems.add(rule + " is both pending and set aside; take it off one of the lists");
        }
        if (implemented && verified) {
          problems.add(
              "%s is built and still pending; take it off the list in %s"
                  .formatted(rule, Spec.PENDING));
        }
      }
      case SET_ASIDE -> {
        if (implemented || verified) {
          problems.add(
              "%s is set aside and has marks at %s; delete them, or its row in %s"
                  .formatted(rule, places(id), Spec.SET_ASIDE));
        }
      }
      case BUILT -> {
        if (!implemented && !verified) {
          problems.add(rule + " is in no state; build it, or list it as pending or set aside");
        } else if (!verified) {
          problems.add(
              "%s has no verify mark; write its test (implemented at %s)"
                  .formatted(rule, places(id)));
        } else if (!implemented) {
          problems.add(
              "%s has no impl mark; put it where the code does it (verified at %s)"
                  .formatted(rule, places(id)));
        }
      }
    }
  }

  private void checkReturned(Map<String, String> left) {
    for (String id : spec.pending()) {
      String commit = left.get(id);
      if (commit != null) {
        problems.add(
            "%s: %s left this list in commit %s and must not return; keep it built"
                .formatted(Spec.PENDING, id, commit));
      }
    }
  }

  /** Returns the state of a rule. One that is on no list claims to be built. */
  private State state(String id) {
    if (spec.pending().contains(id)) {
      return State.PENDING;
    }
    return spec.setAside().contains(id) ? State.SET_ASIDE : State.BUILT;
  }

  private String places(String id) {
    var places = new ArrayList<>(marks.impl(id));
    places.addAll(marks.verify(id));
    return String.join(", ", places);
  }

  /** Returns a table of how many rules of each spec are in each state. */
  String table() {
    var specs = new TreeMap<String, List<State>>();
    var all = new ArrayList<State>();
    for (String id : spec.rules().keySet()) {
      specs.computeIfAbsent(spec.nameOfSpec(id), _ -> new ArrayList<>()).add(state(id));
      all.add(state(id));
    }
    var table = new StringBuilder("rules             built  pending  set aside    all\n");
    specs.forEach((name, states) -> table.append(row(name, states)));
    return table.append(row("all", all)).toString();
  }

  private static String row(String name, List<State> states) {
    return "%-16s %6d %8d %10d %6d\n"
        .formatted(
            name,
            Collections.frequency(states, State.BUILT),
            Collections.frequency(states, State.PENDING),
            Collections.frequency(states, State.SET_ASIDE),
            states.size());
  }
}
