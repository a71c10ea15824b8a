package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When the launcher builds. A script stands in for Maven. */
class LauncherBuildIT {
  private static final String PROGRESS = "belfry: building, this takes a minute or two ...\n";

  @TempDir private Path directory = Path.of("");
  private Installation installation = new Installation(Path.of(""));

  /** One line for each call of Maven. */
  private Path calls = Path.of("");

  @BeforeEach
  void install() throws IOException {
    installation = Installation.withoutJar(directory.resolve("installed"));
    calls = Files.createFile(directory.resolve("calls"));
    Installation.writeJar(directory.resolve("finished.jar"));
    maven("finish");
  }

  @Test
  void buildsAMissingJarAndSaysSoInOneLine() throws Exception {
    Program.Result result = start().run();

    assertThat(result.exitCode()).isZero();
    assertThat(result.err()).isEqualTo(PROGRESS);
    assertThat(result.out()).contains("gaps []").doesNotContain("log of maven");
    assertThat(calls()).hasSize(1);
  }

  @Test
  void doesNotBuildAgainWhatIsFresh() throws Exception {
    start().run();

    assertThat(start().run().err()).isEmpty();
    assertThat(calls()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"pom.xml", "belfry-cli/pom.xml", "belfry-cli/src/main/Source.java"})
  void buildsAgainWhenSomethingIsNewer(String file) throws Exception {
    start().run();
    FileTime later = FileTime.from(Instant.now().plusSeconds(1));
    Files.setLastModifiedTime(installation.root().resolve(file), later);

    assertThat(start().run().err()).isEqualTo(PROGRESS);
    assertThat(calls()).hasSize(2);
  }

  @Test
  void buildsAgainWhenASourceIsRemoved() throws Exception {
    start().run();
    Files.delete(installation.source());

    start().run();

    assertThat(calls()).hasSize(2);
  }

  @Test
  void buildsAgainWhenASourceWasSavedDuringTheBuild() throws Exception {
    maven("touch '" + installation.source() + "'; finish");
    start().run();
    maven("finish");

    start().run();

    assertThat(calls()).hasSize(2);
  }

  @Test
  void showsTheLogOfAFailedBuildAndNothingElse() throws Exception {
    maven("exit 3");

    Program.Result result = start().run();

    assertThat(result)
        .isEqualTo(
            new Program.Result(
                1, "", PROGRESS + "log of maven\nbelfry: the build failed; its log is above.\n"));
  }

  @Test
  void aBuildThatWasCutShortIsDoneAgain() throws Exception {
    maven("echo half a jar >\"$new\"; kill -KILL $$");
    assertThat(start().run().exitCode()).isEqualTo(1);
    maven("finish");

    assertThat(start().run().exitCode()).isZero();
    assertThat(calls()).hasSize(2);
  }

  @Test
  void neverBuildsWhereThatIsForbidden() throws Exception {
    start().run();
    Files.setLastModifiedTime(installation.source(), FileTime.from(Instant.now().plusSeconds(1)));

    assertThat(start().with("BELFRY_NO_BUILD", "").run().exitCode()).isZero();
    assertThat(calls()).hasSize(1);
  }

  @Test
  void twoAtOnceBuildOnce() throws Exception {
    Path gate = directory.resolve("gate");
    maven("while [[ ! -e '" + gate + "' ]]; do read -r -t 0.05 <> <(:); done; finish");
    try (Program first = start().start()) {
      await().atMost(Duration.ofSeconds(60)).until(() -> calls().size() == 1);
      try (Program second = start().start()) {
        await().atMost(Duration.ofSeconds(60)).until(() -> waitsForLock(second));
        Files.createFile(gate);

        Program.Result firstResult = first.end();
        Program.Result secondResult = second.end();
        assertThat(firstResult.exitCode()).isZero();
        assertThat(firstResult.err()).isEqualTo(PROGRESS);
        assertThat(secondResult.exitCode()).isZero();
        assertThat(secondResult.err()).isEmpty();
        assertThat(calls()).hasSize(1);
      }
    }
  }

  @Test
  void theLockIsNotHeldByTheRunningCommand() throws Exception {
    assertThat(start().run().out())
        .contains("descriptor ")
        .doesNotContain("descriptor " + installation.root() + "\n")
        .doesNotEndWith("descriptor " + installation.root());
  }

  @Test
  void mavenDoesNotReadTheInputOfTheCommand() throws Exception {
    maven("cat >/dev/null; finish");
    try (Program program = start().start()) {
      program.say("for the command");

      assertThat(program.end().out()).contains("input for the command");
    }
  }

  private static boolean waitsForLock(Program program) {
    return program.handle().children().anyMatch(LauncherBuildIT::isFlock);
  }

  private static boolean isFlock(ProcessHandle process) {
    return process.info().command().orElse("").endsWith("/flock");
  }

  private Program.Start start() {
    return Program.of(installation.launcher(), "state")
        .without("BELFRY_NO_BUILD")
        .withFirstOnPath(directory.resolve("bin"));
  }

  private List<String> calls() throws IOException {
    return Files.readAllLines(calls);
  }

  /** Installs a stand-in for Maven that logs its call and then runs the action. */
  private void maven(String action) throws IOException {
    Installation.script(
        directory.resolve("bin"),
        "mvn",
        """
        for option; do [[ $option == -Drunnable.jar=* ]] && new=${option#*=}; done
        finish() { cp '%s' "$new"; }
        echo called >>'%s'
        echo log of maven
        %s
        """
            .formatted(directory.resolve("finished.jar"), calls, action));
  }
}
