package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The packaged program, and the state in which the launcher starts a JVM. */
class LauncherIT {
  private static final Path BELFRY = Installation.PROJECT.resolve("belfry");
  private static final String JAVA = System.getProperty("java.home") + "/bin/java";
  private static final String BACKGROUND = "\"$0\" \"$@\" & wait $!";

  @TempDir private Path directory = Path.of("");

  @Test
  void versionIsThatOfTheJar() throws Exception {
    Program.Result result = Program.of(BELFRY, "--version").run();

    assertThat(result.exitCode()).isZero();
    assertThat(result.out()).matches("(?s)belfry \\d+\\.\\d+\\.\\d+.*Java 2\\d.*Linux .*");
    assertThat(result.err()).isEmpty();
  }

  @Test
  void helpGoesToStandardOutput() throws Exception {
    Program.Result help = Program.of(BELFRY, "--help").run();
    Program.Result ofCommand = Program.of(BELFRY, "help", "doctor").run();

    assertThat(help.exitCode()).isZero();
    assertThat(help.out()).startsWith("Usage: belfry");
    assertThat(help.err()).isEmpty();
    assertThat(ofCommand.exitCode()).isZero();
    assertThat(ofCommand.out()).startsWith("Usage: belfry doctor");
  }

  @ParameterizedTest
  @CsvSource({"doktor, Unknown command", "--quick, Unknown option"})
  void wrongCommandLineExitsWith2(String argument, String message) throws Exception {
    Program.Result result = Program.of(BELFRY, argument).run();

    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).startsWith("belfry: " + message);
  }

  @Test
  void doctorFindsTheSignalsBlockedInAllThreads() throws Exception {
    assertBlockedEverywhere(Program.of(BELFRY, "doctor", "--json"), false);
  }

  @Test
  void withoutTheLauncherItStartsItselfAgain() throws Exception {
    assertBlockedEverywhere(
        Program.of(JAVA, "-jar", realJar().toString(), "doctor", "--json"), true);
  }

  @Test
  void theSameAsABackgroundJobOfAScript() throws Exception {
    assertBlockedEverywhere(
        Program.of("bash", "-c", BACKGROUND, BELFRY.toString(), "doctor", "--json"), false);
    assertBlockedEverywhere(
        Program.of(
            "bash", "-c", BACKGROUND, JAVA, "-jar", realJar().toString(), "doctor", "--json"),
        true);
  }

  @Test
  void anOlderJavaIsPassedOverForOneInAUsualPlace() throws Exception {
    Path old = jdk("old", "17.0.15", "echo this is 17; exit 1");
    jdk("home/.jdks/new", "25.0.1", "exec " + JAVA + " \"$@\"");

    assertBlockedEverywhere(
        Program.of(BELFRY, "doctor", "--json")
            .withFirstOnPath(old.resolve("bin"))
            .with("JAVA_HOME", old.toString())
            .with("HOME", directory.resolve("home").toString()),
        false);
  }

  private static void assertBlockedEverywhere(Program.Start start, boolean relaunched)
      throws Exception {
    Program.Result result = start.run();

    assertThat(result.err()).isEmpty();
    JsonNode mask = new JsonMapper().readTree(result.out()).at("/signalMask");
    assertThat(mask.at("/gaps").size()).isZero();
    assertThat(mask.at("/blockedInAllThreads").asBoolean()).isTrue();
    assertThat(mask.at("/relaunched").asBoolean()).isEqualTo(relaunched);
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void exitsWith1OnlyIfWhatIsMissingIsNeeded() throws Exception {
    Installation installation = Installation.withJar(directory.resolve("i"));

    Program.Result needed =
        Program.of(installation.launcher(), "doctor-without", "pidfdOpen").run();
    Program.Result optional =
        Program.of(installation.launcher(), "doctor-without", "ioUringSetup").run();

    assertThat(needed.exitCode()).isEqualTo(1);
    assertThat(needed.out()).containsPattern("(?m)^  no   pidfd +ENOSYS");
    assertThat(optional.exitCode()).isZero();
    assertThat(optional.out()).containsPattern("(?m)^  no   io_uring +ENOSYS");
  }

  @Test
  void aReaderWhoHasSeenEnoughIsNoError() throws Exception {
    Program.Result result =
        Program.of("bash", "-c", "{ \"$0\" doctor; echo $? >&2; } | true", BELFRY.toString()).run();

    assertThat(result.err()).isEqualTo("141\n");
  }

  @Test
  void aFullDiskIsAnError() throws Exception {
    Program.Result result =
        Program.of("bash", "-c", "\"$0\" doctor >/dev/full", BELFRY.toString()).run();

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err()).startsWith("belfry: write(standard output): ENOSPC");
  }

  /** Regression: descriptor 0 was the JVM's own class library, which was sent to the worker. */
  @Test
  void aClosedInputIsAnError() throws Exception {
    String call = "\"$0\" call --url http://127.0.0.1:1 upper - <&-";
    Program.Result result = Program.of("bash", "-c", call, BELFRY.toString()).run();

    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err()).startsWith("belfry call: Cannot read standard input: Bad file");
  }

  @Test
  void aScriptsBackgroundJobIgnoresNothing() throws Exception {
    Installation installation = Installation.withJar(directory.resolve("i"));

    for (String[] command :
        new String[][] {
          {installation.launcher().toString(), "state"},
          {JAVA, "-jar", installation.jar().toString(), "state"}
        }) {
      var start = new ArrayList<>(List.of("bash", "-c", BACKGROUND));
      start.addAll(List.of(command));
      assertThat(Program.of(start.toArray(String[]::new)).run().out())
          .contains("gaps []", "ignored {}");
    }
  }

  /** Regression: it printed a stack trace, or called with other bytes than were typed. */
  @Test
  void whatALocaleCannotExpressIsSaid() throws Exception {
    String config =
        """
        workers: {builtin: demo}
        admin:
          tls: {certificate: schlüssel.pem, key: schlüssel.pem}
        """;
    Path file = Files.writeString(directory.resolve("belfry.yaml"), config);
    Program.Result validated =
        Program.of(HostProgram.BELFRY, "validate", file.toString()).with("LC_ALL", "C").run();
    assertThat(validated.exitCode()).isEqualTo(1);
    assertThat(validated.err()).isEmpty();
    assertThat(validated.out()).startsWith(file + ":3: admin.tls.certificate: ");

    String call = HostProgram.BELFRY + " call upper $(printf 'gr\\303\\274n')";
    Program.Result called = Program.of("sh", "-c", call).with("LC_ALL", "C").run();
    assertThat(called.exitCode()).isEqualTo(2);
    assertThat(called.err()).contains("locale");
  }

  @Test
  void childrenDoNotSeeHowTheJvmWasStarted() throws Exception {
    Installation installation = Installation.withJar(directory.resolve("i"));

    for (Program.Start start :
        List.of(
            Program.of(installation.launcher(), "child-environment"),
            Program.of(JAVA, "-jar", installation.jar().toString(), "child-environment"))) {
      assertThat(start.run().out())
          .contains("PATH=")
          .doesNotContain("_JAVA_SR_SIGNUM", "BELFRY_RELAUNCHED");
    }
  }

  @Test
  void aSuspendSignalSetByOthersIsReplaced() throws Exception {
    Installation installation = Installation.withJar(directory.resolve("i"));

    // Signal 40 is one that we block, and HotSpot would unblock it.
    Program.Result result =
        Program.of(JAVA, "-jar", installation.jar().toString(), "state")
            .with("_JAVA_SR_SIGNUM", "40")
            .run();

    assertThat(result.out()).contains("gaps []", "relaunched true");
  }

  @Test
  void argumentsAndOptionsAndInputArriveUnchanged() throws Exception {
    Installation installation = Installation.withJar(directory.resolve("i"));

    try (Program program =
        Program.of(installation.launcher(), "state", "", "a b", "*", "\u00e9")
            .with("BELFRY_JAVA_OPTS", "-Dsample.one=1  -Dtwo=2")
            .with("LC_ALL", "C.UTF-8")
            .start()) {
      program.say("hello");

      assertThat(program.end().out())
          .contains("arguments [, a b, *, \u00e9]", "property 12", "input hello");
    }
  }

  /** Regression: all lines but the first were silently ignored. */
  @Test
  void optionsMayStandOnSeveralLines() throws Exception {
    Installation installation = Installation.withJar(directory.resolve("i"));

    Program.Result result =
        Program.of(installation.launcher(), "state")
            .with("BELFRY_JAVA_OPTS", "\n-Dsample.one=1\n  -Dtwo=2 \n")
            .run();

    assertThat(result.err()).isEmpty();
    assertThat(result.out()).contains("property 12");
  }

  @Test
  void worksThroughALinkFromElsewhereAndWithSpacesInThePath() throws Exception {
    Installation installation = Installation.withJar(directory.resolve("a place"));
    Path link = Files.createSymbolicLink(directory.resolve("bell ringer"), installation.launcher());
    Path link2 = Files.createSymbolicLink(directory.resolve("again"), link);

    Program.Result result =
        Program.of(link2, "state").in(Files.createDirectory(directory.resolve("else"))).run();

    assertThat(result.err()).isEmpty();
    assertThat(result.out()).contains("gaps []");
  }

  @Test
  void descriptorsOfTheCallerArrive() throws Exception {
    Installation installation = Installation.withJar(directory.resolve("i"));
    Path file = Files.createFile(directory.resolve("inherited"));

    Program.Result result =
        Program.of(
                "bash",
                "-c",
                "exec 7<\"$1\"; \"$0\" state",
                installation.launcher().toString(),
                file.toString())
            .run();
    assertThat(result.out()).contains("descriptor " + file);
  }

  @Test
  void withAnEnvThatCannotBlockSignalsTheProgramDoesItItself() throws Exception {
    Installation installation = Installation.withJar(directory.resolve("i"));
    Path old = directory.resolve("old");
    Installation.script(
        old, "env", "[[ \"$*\" == *--block-signal* ]] && exit 125; exec /usr/bin/env \"$@\"");

    Program.Result result = Program.of(installation.launcher(), "state").withFirstOnPath(old).run();

    assertThat(result.out()).contains("gaps []", "relaunched true");
  }

  @Test
  void aNamedJdkThatIsTooOldIsAnError() throws Exception {
    Path old = jdk("old", "17.0.15", "echo this is 17; exit 1");

    Program.Result result =
        Program.of(BELFRY, "doctor").with("BELFRY_JAVA_HOME", old.toString()).run();

    assertThat(result)
        .isEqualTo(
            new Program.Result(
                1,
                "",
                "belfry: BELFRY_JAVA_HOME="
                    + old
                    + " is not a JDK 25 or newer; point it at one, or unset it.\n"));
  }

  @Test
  void aJavaWithoutAReleaseFileIsAsked() throws Exception {
    Path asked = jdk("asked", "26", "echo 'openjdk version \"24.0.1\" 2025' >&2");
    Files.delete(asked.resolve("release"));
    Program.Start start =
        Program.of(BELFRY, "--version").with("BELFRY_JAVA_HOME", asked.toString());
    assertThat(start.run().exitCode()).isEqualTo(1);

    Installation.script(
        asked.resolve("bin"),
        "java",
        "[[ $1 == -version ]] && echo 'openjdk version \"25\" 2025-09-16' >&2 && exit\n"
            + "exec "
            + JAVA
            + " \"$@\"");
    assertThat(start.run().out()).startsWith("belfry ");
  }

  @Test
  void aMissingJarIsAnErrorWhereBuildingIsForbidden() throws Exception {
    Installation installation = Installation.withoutJar(directory.resolve("i"));

    assertThat(Program.of(installation.launcher(), "doctor").run())
        .isEqualTo(
            new Program.Result(
                1,
                "",
                "belfry: "
                    + installation.jar()
                    + " is missing; unset BELFRY_NO_BUILD to have it built.\n"));
  }

  /** Creates what looks like a JDK of that version. */
  private Path jdk(String name, String version, String script) throws IOException {
    Path home = directory.resolve(name);
    Installation.script(home.resolve("bin"), "java", script);
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
    return home;
  }

  private static Path realJar() {
    return Installation.PROJECT.resolve("belfry-cli/target/belfry.jar");
  }
}
