package dev.belfry.cli.hosts;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Fd;
import dev.belfry.linux.FileLocks;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hosts, most of them real processes, and how they are found. */
class RunDirectoryTest {
  private static final Sys SYS = Sys.forAnyThread();

  @TempDir private Path temporary;
  private Path path;

  @BeforeEach
  void choosePath() {
    path = temporary.resolve("belfry");
  }

  private RunDirectory open() throws IOException {
    return RunDirectory.at(SYS, path);
  }

  private TestProcess host(String name) throws IOException, InterruptedException {
    TestProcess host = TestProcess.java(AnnouncedHost.class, path.toString(), name);
    assertThat(host.line()).isEqualTo("announced");
    return host;
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(path)) {
      return files.toList();
    }
  }

  @Test
  void aLiveHostIsSeenByAnotherProcessUntilItCloses() throws Exception {
    try (TestProcess host = host("demo")) {
      List<HostEntry> live = open().live();

      assertThat(live).hasSize(1);
      HostEntry entry = live.getFirst();
      assertThat(entry.pid()).isEqualTo(host.pid());
      assertThat(entry.name()).isEqualTo("demo");
      assertThat(entry.gateway()).isEqualTo(URI.create("http://127.0.0.1:7070"));
      assertThat(entry.admin()).isNull();
      assertThat(entry.counters()).exists().hasParent(path);
      assertThat(entry.config()).isEqualTo(Path.of("/etc/belfry.yaml"));
      assertThat(entry.startedAt()).isBeforeOrEqualTo(Instant.now());
      assertThat(open().find("demo")).isEqualTo(entry);

      host.say("close");
      assertThat(host.line()).isEqualTo("closed");
      assertThat(open().live()).isEmpty();
    }
  }

  /** Without the lock, systemd-tmpfiles removes the entry of a live host after ten days. */
  @Test
  void aLiveHostHoldsALockOnTheDirectory() throws Exception {
    open();
    try (TestProcess one = host("one");
        TestProcess two = host("two")) {
      assertThat(canBeLocked()).isFalse();
      one.say("close");
      assertThat(one.line()).isEqualTo("closed");
      assertThat(canBeLocked()).isFalse();
      two.kill();
      two.exitCode();
      assertThat(canBeLocked()).isTrue();
    }
  }

  private boolean canBeLocked() throws IOException {
    try (Fd directory = OpenFile.open(SYS, path, OpenFlags.directory(), 0)) {
      return FileLocks.tryFlock(SYS, directory.number(), FileLocks.Mode.EXCLUSIVE);
    }
  }

  @Test
  void theEntryOfAKilledHostIsStaleAndGoesWithItsCounters() throws Exception {
    try (TestProcess killed = host("demo");
        TestProcess alive = host("demo")) {
      killed.kill();
      killed.exitCode();
      assertThat(files()).hasSize(4);

      assertThat(open().live()).extracting(HostEntry::pid).containsExactly((long) alive.pid());
      assertThat(files()).hasSize(2);
    }
  }

  /** Regression: a host that was killed and restarted again and again filled the file system. */
  @Test
  void whoeverAnnouncesItselfRemovesWhatKilledHostsLeft() throws Exception {
    try (TestProcess killed = host("demo")) {
      killed.kill();
      killed.exitCode();
      assertThat(files()).hasSize(2);
    }
    try (TestProcess next = host("demo")) {
      String pid = Integer.toString(next.pid());
      assertThat(files())
          .hasSize(2)
          .allMatch(file -> file.getFileName().toString().startsWith(pid + "-"));
    }
  }

  @Test
  void anEntryThatWasNeverFinishedGoesToo() throws IOException {
    RunDirectory directory = open();
    Files.writeString(path.resolve(".1-0123.host"), "{\"pid\":");
    Files.writeString(path.resolve("2-0123.host"), "");
    Files.writeString(path.resolve("admin-token"), "secret");

    assertThat(directory.live()).isEmpty();
    assertThat(files()).containsExactly(path.resolve("admin-token"));
  }

  /** It was found before its host had locked it, and taken for that of a dead host. */
  @Test
  void anEntryThatWasRemovedBeforeItWasLockedIsMadeAgain() throws IOException {
    SysTap tap = SysTap.over(SYS);
    RunDirectory directory = RunDirectory.at(tap.sys(), path);
    tap.script(
        "flock",
        (nth, _) -> {
          if (nth == 2) { // after that on the directory
            removeStale();
          }
          return OptionalLong.empty();
        });
    var entry = new HostEntry(7, "me", null, null, Path.of("/c"), null, Instant.EPOCH);
    try (var _ = directory.announce(entry)) {
      assertThat(open().live()).containsExactly(entry);
    }
  }

  private void removeStale() {
    try {
      assertThat(files()).hasSize(1);
      assertThat(open().live()).isEmpty();
      assertThat(files()).isEmpty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Regression: with one of these, no host could be found or started. */
  @Test
  @Timeout(60)
  void whatIsNamedLikeAnEntryAndIsNoFileIsLeftAlone() throws Exception {
    RunDirectory directory = open();
    Files.createSymbolicLink(path.resolve("1-link.host"), Path.of("/nowhere"));
    Files.createDirectory(path.resolve("2-directory.host"));
    TestProcess.start("mkfifo", path.resolve("3-pipe.host").toString()).exitCode();
    var entry = new HostEntry(7, "me", null, null, Path.of("/c"), null, Instant.EPOCH);
    try (var _ = directory.announce(entry)) {
      assertThat(directory.live()).containsExactly(entry);
    }
    assertThat(files()).hasSize(3);
  }

  /** Regression: the error did not say where there is no room. */
  @Test
  void noRoomIsSaidWithTheNameOfTheFile() throws Exception {
    open();
    List<String> host = TestProcess.javaCommand(AnnouncedHost.class, path.toString(), "demo");
    var command = new ArrayList<>(List.of("sh", "-c", "ulimit -f 0 && exec \"$@\"", "sh"));
    command.addAll(host);
    command.add(command.indexOf("-cp"), "-XX:-UsePerfData"); // a file of the JVM's own
    try (TestProcess full = TestProcess.start(command)) {
      assertThat(String.join("\n", full.rest()))
          .containsPattern("cannot write " + path + "/\\..+\\.host: File too large; make room");
    }
  }

  @Test
  void countersElsewhereAreNotTouched() throws IOException {
    RunDirectory directory = open();
    Path elsewhere = Files.createFile(temporary.resolve("counters"));
    Path inside = directory.newCountersFile();
    Files.createFile(inside);
    for (Path counters : List.of(elsewhere, inside)) {
      var entry = new HostEntry(1, "dead", null, null, counters, null, Instant.EPOCH);
      Files.writeString(path.resolve(inside.getFileName() + ".host"), entry.toJson());
      assertThat(directory.live()).isEmpty();
    }
    assertThat(elsewhere).exists();
    assertThat(inside).doesNotExist();
  }

  @Test
  void oneOfSeveralHostsIsFoundByPidOrByAnUnambiguousName() throws Exception {
    try (TestProcess first = host("demo");
        TestProcess second = host("demo");
        TestProcess third = host("other")) {
      RunDirectory directory = open();

      assertThat(directory.live())
          .extracting(HostEntry::pid)
          .containsExactly((long) first.pid(), (long) second.pid(), (long) third.pid());
      assertThat(directory.find(Long.toString(second.pid())).pid()).isEqualTo(second.pid());
      assertThat(directory.find("other").pid()).isEqualTo(third.pid());
      assertThatThrownBy(() -> directory.find("demo"))
          .isInstanceOf(NoSuchHost.class)
          .hasMessage(
              "several hosts are called demo, say which by pid: demo (pid %d), demo (pid %d)",
              first.pid(), second.pid());
      assertThatThrownBy(() -> directory.find(null))
          .isInstanceOf(NoSuchHost.class)
          .hasMessageStartingWith("several hosts are running, say which by name or pid: demo (pid");
      assertThatThrownBy(() -> directory.find("nobody"))
          .hasMessageStartingWith("no host is called nobody; running: demo (pid");
    }
  }

  /** Regression: a running host of another version was left out without a word. */
  @ParameterizedTest
  @ValueSource(strings = {"{\"process\": 7}", "no JSON", "", "\u00ff"})
  void aLiveHostWhoseEntryCannotBeReadIsNamed(String text) throws Exception {
    RunDirectory directory = open();
    Path foreign = Files.write(path.resolve("7-0123.host"), text.getBytes(ISO_8859_1));
    String unreadable =
        "a host of another version of belfry, whose entry cannot be read: " + foreign;
    try (Fd held = OpenFile.open(SYS, foreign, OpenFlags.READ_ONLY, 0)) {
      assertThat(FileLocks.tryFlock(SYS, held.number(), FileLocks.Mode.EXCLUSIVE)).isTrue();
      assertThat(directory.live()).isEmpty();
      assertThatThrownBy(() -> directory.find(null))
          .isInstanceOf(NoSuchHost.class)
          .hasMessage("there is " + unreadable);

      var entry = new HostEntry(8, "me", null, null, Path.of("/c"), null, Instant.EPOCH);
      try (var _ = directory.announce(entry)) {
        assertThat(directory.find("me")).isEqualTo(entry);
        assertThatThrownBy(() -> directory.find(null))
            .hasMessage(
                "several hosts are running, say which by name or pid: me (pid 8), " + unreadable);
        assertThatThrownBy(() -> directory.find("7"))
            .hasMessage("no host is called 7; running: me (pid 8), " + unreadable);
      }
    }
    assertThat(directory.live()).isEmpty();
    assertThat(foreign).doesNotExist();
  }

  @Test
  void withoutAnyHostItSaysHowToStartOne() {
    assertThatThrownBy(() -> open().find(null))
        .isInstanceOf(NoSuchHost.class)
        .hasMessage("no host is running (looked in %s); start one: belfry run", path);
  }

  @Test
  void aHostSeesItself() throws IOException {
    RunDirectory directory = open();
    var entry =
        new HostEntry(
            7, "me", null, URI.create("http://[::1]:7071"), Path.of("/c"), null, Instant.EPOCH);
    RunDirectory.Announcement announcement = directory.announce(entry);
    assertThat(directory.live()).containsExactly(entry);
    announcement.close();
    assertThat(directory.live()).isEmpty();
    assertThat(files()).isEmpty();
    announcement.close();
  }

  @Test
  void itIsMadeForTheOwnerOnlyAndWhatIsInItToo() throws IOException {
    RunDirectory directory = open();
    assertThat(Files.getPosixFilePermissions(path))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    var entry = new HostEntry(7, "me", null, null, Path.of("/c"), null, Instant.EPOCH);
    try (var _ = directory.announce(entry)) {
      assertThat(Files.getPosixFilePermissions(files().getFirst()))
          .isEqualTo(PosixFilePermissions.fromString("rw-------"));
    }
  }

  @Test
  void aLinkIsRefused() throws IOException {
    Files.createSymbolicLink(path, Files.createDirectory(temporary.resolve("target")));

    assertThatThrownBy(this::open).hasMessage(path + " is a link or no directory; remove it");
  }

  @Test
  void aDirectoryThatOthersMayEnterIsRefused() throws IOException {
    Files.createDirectory(path);
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx--x---"));

    assertThatThrownBy(this::open).hasMessageContaining(path + " has mode 710");
  }

  @Test
  void somebodyElsesDirectoryIsRefused() throws IOException {
    Path foreign = Path.of("/"); // belongs to root, which may be us
    if (Files.getAttribute(foreign, "unix:uid").equals(Files.getAttribute(temporary, "unix:uid"))) {
      foreign = Files.createDirectory(path);
      Files.setAttribute(foreign, "unix:uid", 12345);
    }
    Path refused = foreign;

    assertThatThrownBy(() -> RunDirectory.at(SYS, refused))
        .hasMessageContaining(refused + " belongs to another user");
  }

  @Test
  void itIsInTheRuntimeDirectoryOfTheUserAndOfNobodyElse() throws IOException {
    Object uid = Files.getAttribute(temporary, "unix:uid");
    Path fallback = Path.of("/tmp/belfry-" + uid);

    assertThat(RunDirectory.place(SYS, temporary.toString())).isEqualTo(path);
    assertThat(RunDirectory.place(SYS, null)).isEqualTo(fallback);
    assertThat(RunDirectory.place(SYS, "")).isEqualTo(fallback);
    assertThat(RunDirectory.place(SYS, "relative")).isEqualTo(fallback);
    assertThat(RunDirectory.place(SYS, temporary + "/gone")).isEqualTo(fallback);
    Path foreign = uid.equals(0) ? Files.createDirectory(path) : Path.of("/");
    if (uid.equals(0)) {
      Files.setAttribute(foreign, "unix:uid", 12345);
    }
    assertThat(RunDirectory.place(SYS, foreign.toString())).isEqualTo(fallback);
  }

  @Test
  void onlyPlainNamesHaveAPlaceInIt() throws IOException {
    RunDirectory directory = open();

    assertThat(directory.file("admin-token")).isEqualTo(path.resolve("admin-token"));
    for (String name : List.of("../x", "a/b", "/etc/passwd", "")) {
      assertThatThrownBy(() -> directory.file(name)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
