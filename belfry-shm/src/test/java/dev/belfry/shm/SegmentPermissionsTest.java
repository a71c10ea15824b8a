package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Only its owner can open a segment's file, at any moment. */
final class SegmentPermissionsTest {
  private static final String NOBODY = "65534";

  @TempDir private Path directory;

  // r[verify shm.file.permissions]
  @Test
  void theModeIsThereFromTheOpenOnWhateverTheUmask() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/strace")), "no strace(1) here");
    Path path = directory.resolve("hub");
    Path trace = directory.resolve("trace");
    String script =
        "umask 0; exec strace -f -y -e trace=/chmod,openat -o '%s' \"$@\"".formatted(trace);
    var command = new ArrayList<>(List.of("sh", "-c", script, "sh"));
    command.addAll(TestProcess.javaCommand(HostProgram.class, "create", path.toString()));
    try (TestProcess host = TestProcess.start(command)) {
      assertThat(host.line()).isEqualTo("created");
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
          .isEqualTo("rw-------");
    }
    List<String> calls =
        Files.readAllLines(trace).stream().filter(line -> line.contains(".hub.")).toList();
    assertThat(calls)
        .singleElement()
        .asString()
        .contains("openat(")
        .contains("O_CREAT|O_EXCL")
        .contains(", 0600)");
  }

  // r[verify shm.file.permissions]
  @Test
  void anotherUserCannotOpenIt() throws Exception {
    assumeTrue(Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0), "not root");
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path forAll = Files.writeString(directory.resolve("all"), "for all");
    Path path = directory.resolve("hub");
    try (Segment _ =
        Segment.create(Sys.forAnyThread(), path, Placement.V1, SegmentConfig.DEFAULT)) {
      assertThat(readAsNobody(forAll)).containsExactly("for all");
      assertThat(readAsNobody(path)).singleElement().asString().contains("Permission denied");
    }
  }

  private static List<String> readAsNobody(Path file) throws Exception {
    try (TestProcess head =
        TestProcess.start(
            "setpriv",
            "--reuid=" + NOBODY,
            "--regid=" + NOBODY,
            "--clear-groups",
            "head",
            "--bytes=8",
            file.toString())) {
      return head.rest();
    }
  }
}
