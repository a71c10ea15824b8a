package dev.belfry.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TestProcessTest {
  @TempDir Path directory;

  @Test
  void aTestTalksToAProcessLineByLine() throws Exception {
    String script = "echo noise; read name; echo hello $name; echo oops >&2; echo bye; exit 3";
    try (TestProcess shell = TestProcess.start("sh", "-c", script)) {
      shell.say("belfry");
      assertThat(shell.line("hello ")).isEqualTo("belfry");
      assertThat(shell.rest()).containsExactly("oops", "bye");
      assertThat(shell.exitCode()).isEqualTo(3);
    }
  }

  @Test
  void theEndOfItIsAFailureThatTellsWhatWasSaid() throws Exception {
    try (TestProcess shell = TestProcess.start("sh", "-c", "echo one; echo two")) {
      assertThatThrownBy(() -> shell.line("three"))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("has ended")
          .hasMessageContaining("one\ntwo");
    }
  }

  @Test
  void closingKills() throws Exception {
    TestProcess sleeper = TestProcess.start("sh", "-c", "sleep 1000 & echo ready; wait");
    sleeper.line("ready");
    sleeper.close();
    assertThat(sleeper.exitCode()).isEqualTo(137);
  }

  @Test
  void aProgramThatGccDoesNotLikeIsAFailure() {
    assertThatThrownBy(() -> CProgram.compile(directory, "wrong", "int main(void) { nonsense }"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("nonsense");
  }
}
