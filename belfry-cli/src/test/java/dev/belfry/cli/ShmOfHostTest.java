package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.cli.top.BusyHost;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Inspects the segment of a running host, whose memory has no name. */
@Timeout(120)
class ShmOfHostTest {
  @TempDir private Path runtime;

  private TestProcess start(Class<?> main, String... arguments) throws IOException {
    var command = new ArrayList<>(List.of("env", "XDG_RUNTIME_DIR=" + runtime));
    command.addAll(TestProcess.javaCommand(main, arguments));
    return TestProcess.start(command);
  }

  @Test
  void aHostIsFoundByItsNameOrBecauseItIsTheOnlyOne() throws Exception {
    try (TestProcess host = start(BusyHost.class, "demo", "1")) {
      host.line("ready");
      for (List<String> which : List.of(List.of("demo"), List.<String>of())) {
        var arguments = new ArrayList<>(List.of("shm", "stat"));
        arguments.addAll(which);
        try (TestProcess stat = start(Main.class, arguments.toArray(String[]::new))) {
          String text = String.join("\n", stat.rest());
          assertThat(stat.exitCode()).isZero();
          assertThat(text)
              .startsWith("/proc/" + host.pid() + "/fd/")
              .containsPattern("1 +ATTACHED")
              .containsPattern("3 +ATTACHED");
        }
      }
    }
  }

  /** Regression: the file came first, so beside the launcher no host called belfry was found. */
  @Test
  void aHostCountsBeforeAFileOfItsName() throws Exception {
    Files.writeString(runtime.resolve("belfry.yaml"), "no segment");
    try (TestProcess host = start(BusyHost.class, "belfry.yaml", "1")) {
      host.line("ready");
      assertThat(statBesideTheFile("belfry.yaml")).startsWith("/proc/" + host.pid() + "/fd/");
      assertThat(statBesideTheFile("./belfry.yaml")).startsWith("belfry shm: ");
    }
    assertThat(statBesideTheFile("belfry.yaml")).startsWith("belfry shm: belfry.yaml");
  }

  private String statBesideTheFile(String which) throws Exception {
    var command = new ArrayList<>(List.of("env", "-C", runtime.toString()));
    command.add("XDG_RUNTIME_DIR=" + runtime);
    command.addAll(TestProcess.javaCommand(Main.class, "shm", "stat", which));
    try (TestProcess stat = TestProcess.start(command)) {
      return stat.line();
    }
  }

  @Test
  void whatIsNeitherFileNorHostIsSaid() throws Exception {
    try (TestProcess stat = start(Main.class, "shm", "stat", "nobody")) {
      assertThat(stat.line())
          .startsWith(
              "belfry shm: nobody is not a file, and no host is running (looked in " + runtime);
      assertThat(stat.exitCode()).isEqualTo(1);
    }
  }
}
