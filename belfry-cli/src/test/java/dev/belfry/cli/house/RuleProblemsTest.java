package dev.belfry.cli.house;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each way in which the rules of a project can be wrong, shown on small projects. */
final class RuleProblemsTest {
  private static final String MAIN = "belfry-a/src/main/java/A.java";
  private static final String TEST = "belfry-a/src/test/java/ATest.java";

  @TempDir private Path root;

  /** Makes a project with one rule in each state. */
  @BeforeEach
  void makeProject() throws IOException {
    write("docs/spec/a.md", "# Rules", "", definition("a.built"), "It works.", "");
    write("docs/spec/b.md", definition("b.pending"), "", definition("b.set-aside"));
    write("docs/spec/pending.txt", "# not yet", "b.pending");
    write("docs/decisions.md", "# Decisions", "", "## No `b`, never: why");
    setAside("| `b.set-aside` | No use. | [No b](../decisions.md#no-b-never-why) |");
    write(MAIN, "class A {} // " + mark("impl", "a.built"));
    write(TEST, "class ATest {} // " + mark("verify", "a.built"));
  }

  @Test
  void nothingIsWrong() throws IOException {
    assertThat(rules().problems()).isEmpty();
    assertThat(rules().hasHistory()).isFalse();
    assertThat(rules().table())
        .isEqualTo(
            """
            rules             built  pending  set aside    all
            a                     1        0          0      1
            b                     0        1          1      2
            all                   1        1          1      3
            """);
  }

  @Test
  void noRules() throws IOException {
    Files.delete(root.resolve("docs/spec/a.md"));
    Files.delete(root.resolve("docs/spec/b.md"));
    assertProblem("docs/spec: no rule is defined there");
  }

  @Test
  void aRuleInNoState() throws IOException {
    append("docs/spec/a.md", definition("a.new"));
    assertOnlyProblem("docs/spec/a.md:6: rule a.new is in no state");
  }

  @Test
  void aBuiltRuleWithoutTest() throws IOException {
    write(TEST, "class ATest {}");
    assertOnlyProblem("rule a.built has no verify mark", MAIN + ":1");
  }

  @Test
  void aBuiltRuleWithoutCode() throws IOException {
    write(MAIN, "class A {}");
    assertOnlyProblem("rule a.built has no impl mark", TEST + ":1");
  }

  @Test
  void aPendingRuleMayHaveOneMark() throws IOException {
    append(MAIN, "// " + mark("impl", "b.pending"));
    assertThat(rules().problems()).isEmpty();
  }

  @Test
  void aBuiltRuleThatIsStillPending() throws IOException {
    append(MAIN, "// " + mark("impl", "b.pending"));
    append(TEST, "// " + mark("verify", "b.pending"));
    assertOnlyProblem("rule b.pending is built and still pending; take it off the list");
  }

  @Test
  void aRuleThatIsPendingAndSetAside() throws IOException {
    append("docs/spec/pending.txt", "b.set-aside");
    assertOnlyProblem("rule b.set-aside is both pending and set aside");
  }

  @Test
  void aRuleThatIsSetAsideAndMarked() throws IOException {
    append(MAIN, "// " + mark("impl", "b.set-aside"));
    assertOnlyProblem("rule b.set-aside is set aside and has marks at " + MAIN + ":2");
  }

  @Test
  void aRuleDefinedTwice() throws IOException {
    append("docs/spec/b.md", definition("a.built"));
    assertOnlyProblem("docs/spec/b.md:4: rule a.built is defined already at docs/spec/a.md:3");
  }

  @Test
  void anIdThatIsNone() throws IOException {
    append("docs/spec/b.md", definition("Bad.Id"));
    assertOnlyProblem("docs/spec/b.md:4: 'Bad.Id' is no id");
  }

  @Test
  void aMarkThatNamesNoRule() throws IOException {
    write("guests/c/guest.h", "int a;", "/* " + mark("impl", "a.bulit") + " */");
    assertOnlyProblem("guests/c/guest.h:2: the mark names no rule: a.bulit");
  }

  @Test
  void aMarkOfTwoRules() throws IOException {
    append(MAIN, "// " + mark("impl", "a.built, b.pending"));
    assertOnlyProblem(MAIN + ":2: 'impl a.built, b.pending' is no mark");
  }

  @Test
  void aMarkOfAnUnknownKind() throws IOException {
    append(MAIN, "// " + mark("does", "a.built"), "// " + definition("a.built"));
    assertThat(rules().problems())
        .satisfiesExactly(
            first -> assertThat(first).contains(MAIN + ":2: 'does a.built' is no mark"),
            second -> assertThat(second).contains(MAIN + ":3: 'a.built' is no mark"));
  }

  @Test
  void whatOnlyLooksLikeAMarkIsNone() throws IOException {
    append(MAIN, "r" + "[i] = arr" + "[impl a.built] + r" + "[x.y];");
    assertThat(rules().problems()).isEmpty();
  }

  @Test
  void verifiedOutsideOfTests() throws IOException {
    append(MAIN, "// " + mark("verify", "b.pending"));
    assertOnlyProblem(MAIN + ":2: b.pending is marked as verified outside of tests");
  }

  @Test
  void implementedInATest() throws IOException {
    append(TEST, "// " + mark("impl", "b.pending"));
    assertOnlyProblem(TEST + ":2: b.pending is marked as implemented in a test");
  }

  @Test
  void testsInCAndForShellsAndTheTestModulesVerify() throws IOException {
    String verify = mark("verify", "b.pending");
    write("guests/c/tests/ring.c", "/* " + verify + " */");
    write("guests/c/ring_test.c", "/* " + verify + " */");
    write("build/test-launcher.sh", "# " + verify);
    write("belfry-stress/src/main/java/S.java", "// " + verify);
    assertThat(rules().problems()).isEmpty();
  }

  @Test
  void pendingThatIsNoRule() throws IOException {
    append("docs/spec/pending.txt", "b.gone", "b.pending");
    assertThat(rules().problems())
        .satisfiesExactly(
            first -> assertThat(first).contains("pending.txt:3: b.gone is no rule"),
            second -> assertThat(second).contains("pending.txt:4: b.pending is listed twice"));
  }

  @Test
  void setAsideThatIsNoRule() throws IOException {
    append(Spec.SET_ASIDE, "| `b.gone` | No use. | [No b](../decisions.md#no-b-never-why) |");
    assertOnlyProblem("set-aside.md:6: b.gone is no rule");
  }

  @Test
  void setAsideWithoutReason() throws IOException {
    setAside("| `b.set-aside` | | [No b](../decisions.md#no-b-never-why) |");
    assertOnlyProblem("set-aside.md:5: the reason is missing");
  }

  @Test
  void setAsideWithoutLink() throws IOException {
    setAside("| `b.set-aside` | No use. | somewhere |");
    assertOnlyProblem("set-aside.md:5: the link is missing");
  }

  @Test
  void setAsideByADecisionThatIsNotThere() throws IOException {
    setAside("| `b.set-aside` | No use. | [No c](../decisions.md#no-c) |");
    assertOnlyProblem("set-aside.md:5: docs/decisions.md has no heading for #no-c");
  }

  @Test
  void setAsideInAnUnreadableRow() throws IOException {
    setAside("| b.set-aside | No use. |");
    assertProblem("set-aside.md:5: a row is the id in backticks");
  }

  @Test
  void whatWasBuiltAndBinaryFilesAreNotRead() throws IOException {
    write("belfry-a/target/generated/G.java", "// " + mark("impl", "no.rule"));
    write("picture.bin", "\0" + mark("impl", "no.rule"));
    assertThat(rules().problems()).isEmpty();
  }

  @Test
  void whatGitIgnoresIsNotRead() throws IOException {
    assumeTrue(git("init", "-q"), "git is installed");
    write(".gitignore", "notes.txt");
    write("notes.txt", mark("impl", "no.rule"));
    assertThat(rules().problems()).isEmpty();
    write("kept.txt", mark("impl", "no.rule"));
    assertOnlyProblem("kept.txt:1: the mark names no rule");
  }

  @Test
  void aPendingRuleThatReturns() throws IOException {
    assumeTrue(git("init", "-q"), "git is installed");
    commit("all pending", "b.pending", "a.built");
    commit("a built, lines moved", "# not yet", "b.pending");
    commit("a remark", "# not yet, but soon", "b.pending");
    assertThat(rules().hasHistory()).isTrue();
    assertThat(rules().problems()).isEmpty();

    write(TEST, "class ATest {}");
    write("docs/spec/pending.txt", "a.built", "b.pending");
    assertOnlyProblem("pending.txt: a.built left this list in commit");
  }

  @Test
  void aBranchThatIsBehindBringsARuleBackOnlyByMerging() throws IOException {
    assumeTrue(git("init", "-q", "-b", "main"), "git is installed");
    commit("all pending", "b.pending", "a.built");
    git("checkout", "-q", "-b", "behind");
    commit("a remark on the branch", "# soon", "b.pending", "a.built");
    git("checkout", "-q", "main");
    commit("a built", "b.pending");
    git("checkout", "-q", "behind");
    write(TEST, "class ATest {}");
    assertThat(rules().problems()).isEmpty();
    git("stash", "-q");
    assertThat(git("merge", "-q", "-s", "ours", "-m", "keep the old list", "main")).isTrue();
    git("stash", "pop", "-q");
    assertOnlyProblem("pending.txt: a.built left this list in commit");
  }

  private Rules rules() throws IOException {
    return Rules.of(new Project(root));
  }

  private void assertOnlyProblem(String... parts) throws IOException {
    assertThat(rules().problems()).singleElement().asString().contains(parts);
  }

  private void assertProblem(String part) throws IOException {
    assertThat(rules().problems()).anyMatch(problem -> problem.contains(part));
  }

  private void commit(String message, String... pending) throws IOException {
    write("docs/spec/pending.txt", pending);
    git("add", ".");
    assertThat(git("commit", "-q", "-m", message)).isTrue();
  }

  private boolean git(String... arguments) throws IOException {
    String[] all = {"-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=no"};
    var command = new ArrayList<>(List.of(all));
    command.addAll(List.of(arguments));
    return new Git(root).ask(command.toArray(String[]::new)).isPresent();
  }

  private void setAside(String row) throws IOException {
    write(Spec.SET_ASIDE, "# Set aside", "", "| rule | why | where |", "|---|---|---|", row);
  }

  private void append(String file, String... lines) throws IOException {
    Files.writeString(
        root.resolve(file), Files.readString(root.resolve(file)) + String.join("\n", lines) + "\n");
  }

  private void write(String file, String... lines) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.resolveSibling("."));
    Files.writeString(path, String.join("\n", lines) + "\n");
  }

  // Put together from pieces, so that this file has no such marks itself.

  private static String mark(String kind, String id) {
    return "r" + "[" + kind + " " + id + "]";
  }

  private static String definition(String id) {
    return "r" + "[" + id + "]";
  }
}
