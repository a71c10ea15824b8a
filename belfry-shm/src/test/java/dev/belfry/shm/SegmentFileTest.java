package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.SharedFile;
import dev.belfry.shm.SegmentException.Reason;
import dev.belfry.testkit.SysTap;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Segments in files and in anonymous memory: how a host creates them, and what becomes of them. */
final class SegmentFileTest extends WithSegmentFile {
  // r[verify shm.file.create]
  // r[verify shm.file.permissions]
  // r[verify shm.file.cleanup]
  @Test
  void aFileIsCompleteOnlyForItsOwnerAndGoneAfterTheEnd() throws IOException {
    try (Segment segment = create()) {
      assertThat(Files.size(path)).isEqualTo(segment.layout().totalBytes());
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
          .isEqualTo("rw-------");
      assertThat(names()).containsExactly("hub");
    }
    assertThat(names()).isEmpty();
  }

  // Closing used to need one more descriptor, and left the file behind if there was none.
  // r[verify shm.file.cleanup]
  @Test
  void aHostThatHasRunOutOfDescriptorsStillDeletesItsFile() throws IOException {
    SysTap tap = SysTap.over(SYS);
    try (Segment _ = Segment.create(tap.sys(), path, Placement.V1, Sides.CONFIG)) {
      tap.fail("openat", Errno.EMFILE);
    }
    assertThat(names()).isEmpty();
  }

  // Closing used to fail if the file that is at the path by then could not be opened.
  // r[verify shm.file.cleanup]
  @Test
  void whateverHasThePathOfAHostByThenIsLeftAlone() throws IOException {
    try (Segment _ = create()) {
      Files.delete(path);
      Files.createSymbolicLink(path, directory.resolve("elsewhere"));
    }
    assertThat(names()).containsExactly("hub");
  }

  /**
   * A host killed between creating its file and renaming it used to leave the whole segment behind.
   */
  // r[verify shm.file.cleanup]
  @Test
  void whatAHostLeftThatDiedBeforeItsFileWasInPlaceIsRemovedByTheNext() throws IOException {
    Files.write(directory.resolve(".hub.0123456789abcdef"), new byte[100]);
    Files.createFile(directory.resolve(".hub.00000000deadbeef")); // perhaps about to be locked
    Files.write(directory.resolve(".hub.notes"), new byte[100]);
    SegmentFile.Aside living = SegmentFile.createAside(SYS, path);
    Files.write(living.aside(), new byte[100]);
    create().close();
    assertThat(names())
        .containsExactlyInAnyOrder(
            ".hub.00000000deadbeef", ".hub.notes", String.valueOf(living.aside().getFileName()));
    living.abandon();
  }

  @Test
  void theModeIsGivenWithTheOpenAndNeverChanged() throws IOException {
    SysTap tap = SysTap.over(SYS);
    var modes = new ArrayList<Integer>();
    tap.script(
        "openat",
        (_, arguments) -> {
          if (((Integer) arguments[2] & 0x40) != 0) {
            modes.add((Integer) arguments[3]);
          }
          return java.util.OptionalLong.empty();
        });
    Segment.create(tap.sys(), path, Placement.V1, Sides.CONFIG).close();
    assertThat(modes).containsExactly(0600);
  }

  // r[verify shm.file.mmap-posix]
  @Test
  void aSegmentIsMappedOnceSharedAndWritable() throws IOException {
    try (Segment host = create()) {
      String inode = String.valueOf(Files.getAttribute(path, "unix:ino"));
      // 7f0e5c000000-7f0e5c002000 rw-s 00000000 00:21 1234   /the/path
      Pattern line = Pattern.compile("(\\w+)-(\\w+) (....) \\w+ [\\w:]+ " + inode + " .*");
      List<Matcher> maps =
          Files.readAllLines(Path.of("/proc/self/maps")).stream()
              .map(line::matcher)
              .filter(Matcher::matches)
              .toList();
      assertThat(maps).hasSize(1);
      assertThat(maps.getFirst().group(3)).isEqualTo("rw-s");
      long bytes =
          Long.parseLong(maps.getFirst().group(2), 16)
              - Long.parseLong(maps.getFirst().group(1), 16);
      assertThat(bytes).isEqualTo((host.layout().totalBytes() + 4095) / 4096 * 4096);
      try (Segment guest = Segment.attach(SYS, path)) {
        host.memory().mapping().set(JAVA_INT, 100, 77);
        assertThat(guest.memory().mapping().get(JAVA_INT, 100)).isEqualTo(77);
      }
    }
  }

  // r[verify shm.file.path]
  @Test
  void anAnonymousSegmentCannotBeCut() throws IOException {
    try (Segment host = Segment.createAnonymous(SYS, Placement.PADDED, Sides.CONFIG)) {
      assertThatExceptionOfType(ErrnoException.class)
          .isThrownBy(() -> SharedFile.truncate(SYS, host.descriptor(), 100))
          .matches(e -> e.is(Errno.EPERM));
      Path own = Path.of("/proc/self/fd/" + host.descriptor());
      try (Segment guest = Segment.attach(SYS, own)) {
        assertThat(guest.layout().placement()).isEqualTo(Placement.PADDED);
      }
    }
  }

  @Test
  void aSecondHostIsRefusedAndTheFirstUndisturbed() throws IOException {
    try (Segment first = create()) {
      first.peers().reserve();
      assertThatExceptionOfType(SegmentException.class)
          .isThrownBy(this::create)
          .matches(e -> e.reason() == Reason.IN_USE)
          .withMessageContaining("living host");
      assertThat(first.peers().state(1)).isEqualTo(PeerState.RESERVED);
      Segment.attach(SYS, path).close();
      assertThat(names()).containsExactly("hub");
    }
  }

  @Test
  void aFileThatADeadHostLeftIsReplaced() throws Exception {
    try (TestProcess host = TestProcess.java(HostProgram.class, "create", path.toString())) {
      assertThat(host.line()).isEqualTo("created");
      host.kill();
      host.exitCode();
    }
    assertThat(path).exists();
    try (Segment next = create()) {
      assertThat(next.peers().state(1)).isEqualTo(PeerState.EMPTY); // the dead host had reserved it
    }
  }

  @Test
  void aFileThatIsNoSegmentIsNotReplaced() throws IOException {
    Files.writeString(path, "something that somebody needs");
    assertThatExceptionOfType(SegmentException.class)
        .isThrownBy(this::create)
        .matches(e -> e.reason() == Reason.NOT_A_SEGMENT);
    assertThat(path).hasContent("something that somebody needs");
    assertThat(names()).containsExactly("hub");
  }

  @Test
  void aDeletedFileStaysGoodForThoseWhoHaveIt() throws IOException {
    try (Segment host = create();
        Segment guest = Segment.attach(SYS, path)) {
      Files.delete(path);
      Link toHost = Link.walkIn(guest, WaitStrategy.SLEEP);
      assertThat(Sides.send(toHost, 1, new byte[10])).isEqualTo(SendResult.SENT);
      Link toGuest = Link.toGuest(host, toHost.peer(), WaitStrategy.SLEEP);
      assertThat(toGuest.inbox().receive(new Message())).isTrue();
      assertThatThrownBy(() -> Segment.attach(SYS, path)).hasMessageContaining("ENOENT");
    }
  }

  @Test
  void aFullFileSystemIsAnErrorWhenTheSegmentIsMade() throws Exception {
    Path small = Files.createDirectory(directory.resolve("small"));
    // In a mount namespace of its own, so that nothing is left behind whatever happens.
    List<String> command =
        TestProcess.javaCommand(HostProgram.class, "create", small.resolve("hub").toString());
    String script = "mount -t tmpfs -o size=64k none '%s' && exec \"$@\"".formatted(small);
    var inNamespace = new ArrayList<>(List.of("unshare", "-rm", "sh", "-c", script, "sh"));
    inNamespace.addAll(command);
    try (TestProcess host = TestProcess.start(inNamespace)) {
      assertThat(host.line()).contains("ENOSPC").contains("fallocate");
      assertThat(host.line()).isEqualTo("left: []");
    }
  }

  @Test
  void aFailingStepLeavesNothingBehind() {
    for (String step : List.of("openat", "fcntl", "fallocate", "mmap")) {
      SysTap tap = SysTap.over(SYS);
      tap.failAt(step, 1, Errno.EMFILE);
      assertThatExceptionOfType(ErrnoException.class)
          .as(step)
          .isThrownBy(() -> Segment.create(tap.sys(), path, Placement.V1, Sides.CONFIG))
          .matches(e -> e.is(Errno.EMFILE));
      assertThat(directory).isEmptyDirectory();
    }
  }

  // r[verify shm.architecture]
  @Test
  void anotherByteOrderOrWordSizeIsRefused() {
    assertThatThrownBy(() -> Segment.checkPlatform(ByteOrder.BIG_ENDIAN, "64"))
        .isInstanceOf(SegmentException.class)
        .hasMessageContaining("BIG_ENDIAN");
    assertThatThrownBy(() -> Segment.checkPlatform(ByteOrder.LITTLE_ENDIAN, "32"))
        .isInstanceOf(SegmentException.class)
        .hasMessageContaining("32 bits");
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> String.valueOf(file.getFileName())).toList();
    }
  }

  /** Each used to keep its mapping and memory until the next collection, which might never come. */
  // r[verify shm.file.unmap]
  @ParameterizedTest
  @CsvSource({"mmap, 12", "fallocate, 28"})
  void whatClosedSegmentsKeepIsTakenFromThemWhenItIsNeeded(String call, int errno)
      throws IOException {
    SysTap tap = SysTap.over(SYS);
    var mapped = new AtomicInteger();
    tap.script(
        "munmap",
        (_, _) -> {
          mapped.decrementAndGet();
          return OptionalLong.empty();
        });
    tap.script(
        "mmap",
        (_, _) -> {
          mapped.incrementAndGet();
          return OptionalLong.empty();
        });
    SysTap limited = SysTap.over(tap.sys());
    limited.script(
        call, (_, _) -> mapped.get() < 8 ? OptionalLong.empty() : OptionalLong.of(-errno));
    for (int i = 0; i < 30; i++) {
      try (Segment host = Segment.create(limited.sys(), path, Placement.PADDED, Sides.CONFIG);
          Segment guest = Segment.attach(limited.sys(), path)) {
        assertThat(guest.layout().totalBytes()).isEqualTo(host.layout().totalBytes());
      }
    }
    assertThat(mapped).hasPositiveValue();
  }
}
