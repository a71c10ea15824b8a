package dev.belfry.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a child inherits, according to its own {@code /proc}. */
final class SpawnTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final String NO_SIGNAL = "0000000000000000";

  @TempDir static Path directory;
  private static String probe;

  @BeforeAll
  static void compile() throws Exception {
    probe = CProgram.compile(directory, SpawnTest.class, "probe").toString();
  }

  /**
   * The parent has blocked and ignored signals, and inheritable descriptors. While CHLD was
   * ignored, the child's exit status could not be learnt.
   */
  @Test
  void aChildOfADirtyParentIsClean() throws Exception {
    List<String> java = TestProcess.javaCommand(DirtyParent.class, probe);
    var command = new ArrayList<>(List.of("sh", "-c", "trap '' HUP USR1 TERM; exec \"$@\"", "sh"));
    command.addAll(List.of("env", "--ignore-signal=CHLD")); // not every shell can do this
    command.addAll(java);
    Probe child;
    try (TestProcess parent = TestProcess.start(command)) {
      assertThat(parent.line("parent blocked "))
          .isEqualTo("{SIGUSR2,SIGTERM,SIGCHLD,SIGRTMIN+6,SIGRTMAX}");
      assertThat(parent.line("parent ignored "))
          .contains("SIGHUP", "SIGUSR1", "SIGTERM", "SIGCHLD");
      parent.line("parent inheritable ");
      child = new Probe(0, parent.rest());
      assertThat(parent.exitCode()).isZero();
    }

    assertThat(child.lines()).endsWith("child exit code 0");
    assertThat(child.descriptors()).containsOnlyKeys(0, 1, 2, 3, 4);
    assertThat(child.descriptors())
        .contains(entry(3, "/memfd:alpha (deleted)"), entry(4, "/memfd:beta (deleted)"));
    assertThat(child.descriptors().get(0)).startsWith("pipe:");
    assertThat(child.descriptors().get(1)).startsWith("pipe:");
    assertThat(child.one("SigBlk:")).isEqualTo(NO_SIGNAL);
    assertThat(child.one("SigIgn:")).isEqualTo(NO_SIGNAL);
    assertThat(child.one("SigCgt:")).isEqualTo(NO_SIGNAL);
  }

  // The child used to get only what precedes the NUL.
  @Test
  void aTextThatHasAnEndInItsMiddleIsRefused() {
    for (Spawn spawn :
        List.of(
            Spawn.command(probe + "\0"),
            Spawn.command(probe, "one\0two"),
            Spawn.command(probe).variable("NAME", "one\0two"),
            Spawn.command(probe).environment(Map.of("NA\0ME", "value")))) {
      assertThatThrownBy(() -> spawn.start(SYS))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("\\0");
    }
  }

  /** SigBlk has one bit per signal; bit 0 is signal 1. */
  @Test
  void itHasThoseSignalsBlockedThatWereAskedFor() throws IOException {
    Probe child = Probe.run(Spawn.command(probe).block(SigSet.of(Signo.HUP, Signo.TERM)));
    assertThat(child.one("SigBlk:")).isEqualTo("0000000000004001");
  }

  @Test
  void itHasJustTheStandardStreamsIfNothingIsPassed() throws IOException {
    Probe child = Probe.run(Spawn.command(probe));
    assertThat(child.descriptors()).containsOnlyKeys(0, 1, 2);
    assertThat(child.descriptors().get(2))
        .isEqualTo(Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString());
  }

  /** The child moves them one after another; none may be overwritten before its turn. */
  @Test
  void descriptorsWhoseNumbersCollideWithTheirTargetsArriveInOrder() throws IOException {
    var files = new ArrayList<Fd>();
    try {
      var low = new ArrayList<Fd>();
      for (int i = 0; i < 8; i++) {
        Fd file = SharedFile.createAnonymous(SYS, "file" + i);
        files.add(file);
        low.add(file);
      }
      int first = low.getFirst().number();
      Spawn spawn = Spawn.command(probe);
      var expected = new ArrayList<String>();
      // Enough for the targets to reach the sources' numbers, and these in reverse order.
      int target = 3;
      while (target < first + 8) {
        int which = Math.floorMod(first + 7 - target, 8);
        spawn.pass(low.get(which).number());
        expected.add("/memfd:file" + which + " (deleted)");
        target++;
      }

      Probe child = Probe.run(spawn);

      assertThat(child.descriptors()).hasSize(3 + expected.size());
      assertThat(List.copyOf(child.descriptors().values()).subList(3, 3 + expected.size()))
          .isEqualTo(expected);
    } finally {
      files.forEach(Fd::close);
    }
  }

  @Test
  void aDescriptorCanBePassedTwiceAndAsAStream() throws IOException {
    try (Fd file = SharedFile.createAnonymous(SYS, "twice")) {
      Probe child =
          Probe.run(
              Spawn.command(probe)
                  .standard(0, file.number())
                  .standard(2, file.number())
                  .pass(file.number())
                  .pass(file.number()));
      String target = "/memfd:twice (deleted)";
      assertThat(child.descriptors()).hasSize(5);
      assertThat(child.descriptors())
          .contains(entry(0, target), entry(2, target), entry(3, target), entry(4, target));
    }
  }

  @Test
  void standardStreamsCanBeSwapped() throws IOException {
    Path path = Files.createFile(directory.resolve("stream"));
    try (Fd file = OpenFile.open(SYS, path, OpenFlags.READ_WRITE, 0)) {
      Probe child = Probe.run(Spawn.command(probe).standard(0, 2).standard(2, file.number()));
      assertThat(child.descriptors().get(0))
          .isEqualTo(Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString());
      assertThat(child.descriptors().get(2)).isEqualTo(path.toString());
    }
  }

  @Test
  void whatIsPassedStaysOpenHereAndKeepsItsFlag() throws IOException {
    try (Fd file = SharedFile.createAnonymous(SYS, "kept")) {
      Descriptors before = Descriptors.now();
      Probe.run(Spawn.command(probe).pass(file.number()));
      assertThat(FdFlags.isCloseOnExec(SYS, file.number())).isTrue();
      assertThat(before.openedSince()).isEmpty();
    }
  }

  @Test
  void itIsInOurProcessGroupUnlessItGetsItsOwn() throws IOException {
    Probe inOurs = Probe.run(Spawn.command(probe));
    assertThat(inOurs.one("group")).isNotEqualTo(inOurs.one("pid"));

    Probe inOwn = Probe.run(Spawn.command(probe).ownProcessGroup());
    assertThat(inOwn.one("pid")).isEqualTo(Integer.toString(inOwn.pid()));
    assertThat(inOwn.one("group")).isEqualTo(inOwn.one("pid"));
  }

  @Test
  void itStartsInTheDirectoryItIsGiven() throws IOException {
    Path grove = Files.createDirectory(directory.resolve("grün er"));
    assertThat(Probe.run(Spawn.command(probe).directory(grove)).one("directory"))
        .isEqualTo(grove.toString());
    assertThat(Probe.run(Spawn.command(probe)).one("directory"))
        .isEqualTo(Path.of("").toAbsolutePath().toString());
  }

  @Test
  void argumentsArriveAsTheyAre() throws IOException {
    assertThat(Probe.run(Spawn.command(probe, "a b", "", "grün", "$HOME", "-x")).all("argument"))
        .containsExactly("a b", "", "grün", "$HOME", "-x");
  }

  @Test
  void theEnvironmentIsOursOrTheOneGiven() throws IOException {
    assertThat(Probe.run(Spawn.command(probe)).all("variable"))
        .contains("PATH=" + System.getenv("PATH"));
    assertThat(Probe.run(Spawn.command(probe).environment(Map.of("A", "grün=b"))).all("variable"))
        .containsExactly("A=grün=b");
  }

  @Test
  void oneVariableIsSetOrTakenOutAndTheOthersStay() throws IOException {
    Spawn spawn = Spawn.command(probe).variable("A", "grün").variable("PATH", null);
    assertThat(Probe.run(spawn).all("variable"))
        .contains("A=grün")
        .hasSameSizeAs(Probe.run(Spawn.command(probe)).all("variable"))
        .noneMatch(it -> it.startsWith("PATH="));
    Spawn replaced = Spawn.command(probe).environment(Map.of("A", "1", "AB", "2"));
    assertThat(Probe.run(replaced.variable("A", "3")).all("variable"))
        .containsExactly("AB=2", "A=3");
  }

  @Test
  void aProgramIsLookedForOnThePath() throws Exception {
    try (var child = Spawn.command("true").start(SYS)) {
      assertThat(child.awaitExit().shellCode()).isZero();
    }
  }

  @Test
  void aProgramThatIsNotThereIsNamed() {
    assertThatThrownBy(() -> Spawn.command("no-such-program", "x").start(SYS))
        .isInstanceOf(ErrnoException.class)
        .hasMessage("posix_spawnp(no-such-program): ENOENT (No such file or directory)");
    assertThatThrownBy(() -> Spawn.command("/etc/passwd").start(SYS))
        .isInstanceOf(ErrnoException.class)
        .hasMessageStartingWith("posix_spawnp(/etc/passwd): EACCES");
    Path none = directory.resolve("none"); // the error used to claim that the program was missing
    assertThatThrownBy(() -> Spawn.command("true").directory(none).start(SYS))
        .isInstanceOf(ErrnoException.class)
        .hasMessageStartingWith("posix_spawnp(true in " + none + "): ENOENT");
  }

  @Test
  void misuseIsRefused() {
    assertThatThrownBy(() -> Spawn.command()).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Spawn.command("x").standard(3, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Spawn.command("true").pass(1_000_000).start(SYS))
        .isInstanceOf(ErrnoException.class)
        .hasMessageContaining("EBADF");
  }
}
