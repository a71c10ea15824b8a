package dev.belfry.cli.house;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The script of the continuous build, with stand-ins for the programs it calls. */
final class CiTest {
  @TempDir private Path programs;
  private Path calls = Path.of("");

  private record Result(int exit, String output) {}

  @BeforeEach
  void makePrograms() throws IOException {
    calls = programs.resolve("calls");
    Files.createFile(calls);
    program("mvn", "exit 0");
    program("kill", "exit 0");
    program("curl", "exit 0");
    program("git", "exit 0");
    program("strace", "exit 0");
    program("script", "exit 0");
    program("gcc", "exit 0");
    program("aarch64-linux-gnu-gcc", "exit 0");
    program("chromium", "exit 0");
    program("chromedriver", "exit 0");
    program("apt-get", "exit 0");
  }

  @Test
  void runsTheTestCommandOfTheReadmeAndNothingElse() throws Exception {
    assertThat(Project.current().text("README.md")).contains("\nmvn verify\n");
    assertThat(run().exit()).isZero();
    assertThat(Files.readAllLines(calls))
        .filteredOn(call -> !call.startsWith("gcc"))
        .containsExactly("mvn -B -ntp verify");
  }

  @Test
  void failsWhenTheTestsFail() throws Exception {
    program("mvn", "exit 3");
    assertThat(run().exit()).isEqualTo(3);
  }

  @Test
  void installsTheCompilerWhereItIsMissing() throws Exception {
    Files.delete(programs.resolve("gcc"));
    Result result = run();
    if (isRoot()) {
      assertThat(result.exit()).isZero();
      assertThat(Files.readAllLines(calls))
          .containsExactly(
              "apt-get -q update",
              "apt-get -q -y --no-install-recommends install gcc libc6-dev",
              "mvn -B -ntp verify");
    } else {
      assertThat(result.exit()).isEqualTo(1);
      assertThat(result.output()).contains("gcc libc6-dev").contains("root");
    }
  }

  @Test
  void failsWhereTheCompilerCannotBeInstalled() throws Exception {
    program("gcc", "exit 1");
    program("apt-get", "exit 100");
    assertThat(run().exit()).isNotZero();
    assertThat(Files.readString(calls)).doesNotContain("mvn");
  }

  @ParameterizedTest
  @ValueSource(strings = {"chromium", "chromedriver"})
  void installsTheBrowserWhereItIsMissing(String program) throws Exception {
    Files.delete(programs.resolve(program));
    Result result = run();
    if (isRoot()) {
      assertThat(result.exit()).isZero();
      assertThat(Files.readAllLines(calls))
          .contains("apt-get -q -y --no-install-recommends install chromium chromium-driver");
    } else {
      assertThat(result.exit()).isEqualTo(1);
    }
    program("apt-get", "exit 100");
    Files.writeString(calls, "");
    assertThat(run().exit()).isNotZero();
    assertThat(Files.readString(calls)).doesNotContain("mvn");
  }

  @Test
  void testsInTheBrowserAndOnIoUringMayNotBeLeftOut() throws Exception {
    program("mvn", "test \"$BELFRY_BROWSER$BELFRY_IO_URING\" = requiredrequired");
    assertThat(run().exit()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "kill, procps",
    "curl, curl ca-certificates",
    "git, git",
    "strace, strace",
    "script, bsdutils",
    "aarch64-linux-gnu-gcc, gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
  })
  void installsWhatSomeTestsAsk(String program, String debianPackage) throws Exception {
    Files.delete(programs.resolve(program));
    Result result = run();
    if (isRoot()) { // only root can install
      assertThat(result.exit()).isZero();
      assertThat(Files.readAllLines(calls))
          .contains("apt-get -q -y --no-install-recommends install " + debianPackage);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"git", "strace", "script", "aarch64-linux-gnu-gcc"})
  void goesOnWithoutWhereItCannotBeInstalled(String program) throws Exception {
    Files.delete(programs.resolve(program));
    program("apt-get", "exit 100");
    Result result = run();
    assertThat(result.exit()).isZero();
    assertThat(result.output()).contains("going on without " + program);
    assertThat(Files.readString(calls)).endsWith("mvn -B -ntp verify\n");
  }

  private Result run() throws Exception {
    Path script = Project.current().root().resolve(".ci/run");
    assertThat(script).isExecutable();
    var builder = new ProcessBuilder(List.of("/bin/bash", script.toString()));
    builder.environment().put("PATH", programs.toString());
    builder.redirectErrorStream(true).directory(programs.toFile());
    Process process = builder.start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Result(process.waitFor(), output);
  }

  /** Installs a program that logs how it was called. */
  private void program(String name, String end) throws IOException {
    Path file = programs.resolve(name);
    Files.writeString(file, "#!/bin/sh\necho \"%s $*\" >> '%s'\n%s\n".formatted(name, calls, end));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private static boolean isRoot() throws IOException {
    return Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
  }
}
