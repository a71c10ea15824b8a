package dev.belfry.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.PidFd;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.Sys;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A shell starts a JVM and is killed; then the JVM's input ends. */
final class ParentDeathTest {
  private static final Sys SYS = Sys.forAnyThread();

  @TempDir Path directory;

  /** Returns the file to which the JVM wrote its final parent's id, if it lived long enough. */
  private Path outliveTheParent(String mode) throws Exception {
    Path testament = directory.resolve("testament");
    // A shell gives a background job no input unless told to.
    var command = new ArrayList<>(List.of("sh", "-c", "exec 3<&0; \"$@\" <&3 & wait", "sh"));
    command.addAll(TestProcess.javaCommand(Orphan.class, mode, testament.toString()));
    try (TestProcess shell = TestProcess.start(command)) {
      assertThat(shell.line("child of ")).isEqualTo(Integer.toString(shell.pid()));
      try (PidFd orphan = PidFd.open(SYS, Integer.parseInt(shell.line("pid ")))) {
        shell.kill();
        assertThat(shell.exitCode()).isEqualTo(137);
        if (mode.equals("live")) {
          shell.endInput();
        }
        var set = new PollSet(SYS, 1);
        set.set(0, orphan.number(), PollSet.IN);
        long deadline = System.nanoTime() + TestProcess.PATIENCE.toNanos();
        assertThat(set.await(deadline)).as("it ends").isEqualTo(1);
      }
    }
    return testament;
  }

  @Test
  void whoAskedForItDiesWithItsParent() throws Exception {
    assertThat(outliveTheParent("die")).doesNotExist();
  }

  @Test
  void whoDidNotAskForItLivesOnWithAnotherParent() throws Exception {
    assertThat(outliveTheParent("live")).content().matches("[0-9]+");
  }
}
