package dev.belfry.linux;

import static dev.belfry.linux.OpenFile.RESOLVE_BENEATH;
import static dev.belfry.linux.OpenFile.RESOLVE_NO_SYMLINKS;
import static dev.belfry.linux.OpenFile.WORKING_DIRECTORY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OpenFileTest {
  private static final Sys SYS = Sys.forAnyThread();

  @TempDir Path directory;

  private static Fd openDirectory(Path path) throws ErrnoException {
    return OpenFile.open(SYS, path, OpenFlags.READ_ONLY | OpenFlags.directory(), 0);
  }

  private static void assertFailsWith(String errno, OpenCall call) {
    assertThatThrownBy(() -> call.open().close())
        .isInstanceOf(ErrnoException.class)
        .hasMessageContaining(errno);
  }

  private interface OpenCall {
    Fd open() throws IOException;
  }

  @Test
  void aFileIsCreatedWithItsPermissions() throws IOException {
    Path file = directory.resolve("grün and new");
    int flags = OpenFlags.WRITE_ONLY | OpenFlags.CREATE | OpenFlags.EXCLUSIVE;
    try (Fd fd = OpenFile.open(SYS, file, flags, 0600);
        Arena arena = Arena.ofConfined()) {
      assertThat(FdFlags.isCloseOnExec(SYS, fd.number())).isTrue();
      assertThat(FileStatus.of(SYS, fd.number()).permissions()).isEqualTo(0600);
      assertThat(Io.write(SYS, fd.number(), arena.allocateFrom("x"))).isEqualTo(2);
    }
    assertThat(Files.readString(file)).isEqualTo("x\0");
    assertFailsWith("EEXIST", () -> OpenFile.open(SYS, file, flags, 0600));
  }

  @Test
  void whatIsMissingIsNamed() {
    Path missing = directory.resolve("missing");
    assertThatThrownBy(() -> OpenFile.open(SYS, missing, OpenFlags.READ_ONLY, 0))
        .isInstanceOf(ErrnoException.class)
        .hasMessage("openat(" + missing + "): ENOENT (No such file or directory)");
  }

  // Regression: a name that cannot be decoded in the encoding of the locale, such as any name with
  // an umlaut in a container without a locale, was not found, though its path came from a listing.
  @Test
  void aNameNeedNotBeText() throws Exception {
    String script = "cd \"$0\" && printf here > \"$(printf 'a+b %%41 \\377\\303')\"";
    var shell = new ProcessBuilder("sh", "-c", script, directory.toString()).inheritIO().start();
    assertThat(shell.waitFor()).isZero();
    Path file;
    try (Stream<Path> listed = Files.list(directory)) {
      file = listed.findFirst().orElseThrow();
    }
    try (Fd top = openDirectory(directory)) {
      long inode = (long) Files.getAttribute(file, "unix:ino");
      for (OpenCall call :
          List.<OpenCall>of(
              () -> OpenFile.open(SYS, file, OpenFlags.READ_ONLY, 0),
              () -> OpenFile.openAt(SYS, WORKING_DIRECTORY, file, OpenFlags.READ_ONLY, 0, 0),
              () -> OpenFile.open(SYS, top.number(), file.getFileName(), 0, 0))) {
        try (Fd fd = call.open()) {
          assertThat(FileStatus.of(SYS, fd.number()).inode()).isEqualTo(inode);
        }
      }
    }
    Files.delete(file);
    Files.createDirectory(file);
    openDirectory(file).close();
  }

  @Test
  void onlyADirectoryAndNoLinkIfAskedFor() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    Path link = Files.createSymbolicLink(directory.resolve("link"), file);

    assertFailsWith("ENOTDIR", () -> OpenFile.open(SYS, file, OpenFlags.directory(), 0));
    assertFailsWith("ELOOP", () -> OpenFile.open(SYS, link, OpenFlags.noFollow(), 0));
    OpenFile.open(SYS, link, OpenFlags.READ_ONLY, 0).close();
  }

  @Test
  void beneathADirectoryMeansJustThat() throws IOException {
    Path outside = Files.createFile(directory.resolve("outside"));
    Path within = Files.createDirectory(directory.resolve("within"));
    Files.createFile(within.resolve("inside"));
    Files.createSymbolicLink(within.resolve("out"), outside);
    try (Fd top = openDirectory(within)) {
      int at = top.number();
      try (Fd inside = OpenFile.openAt(SYS, at, Path.of("inside"), 0, 0, RESOLVE_BENEATH)) {
        assertThat(FdFlags.isCloseOnExec(SYS, inside.number())).isTrue();
        assertThat(FileStatus.of(SYS, inside.number()).isRegular()).isTrue();
      }
      for (String way : new String[] {"..", "../..", outside.toString(), "out", "inside/../../x"}) {
        assertThatThrownBy(() -> OpenFile.openAt(SYS, at, Path.of(way), 0, 0, RESOLVE_BENEATH))
            .as(way)
            .isInstanceOf(ErrnoException.class)
            .hasMessageStartingWith("openat2(" + way + ")");
      }
      assertFailsWith(
          "EXDEV", () -> OpenFile.openAt(SYS, at, Path.of("out"), 0, 0, RESOLVE_BENEATH));
      assertFailsWith(
          "ELOOP", () -> OpenFile.openAt(SYS, at, Path.of("out"), 0, 0, RESOLVE_NO_SYMLINKS));
    }
  }

  @Test
  void relativeToADirectoryFilesAreCreatedToo() throws IOException {
    try (Fd top = openDirectory(directory)) {
      int flags = OpenFlags.READ_WRITE | OpenFlags.CREATE;
      OpenFile.openAt(SYS, top.number(), Path.of("made"), flags, 0640, RESOLVE_BENEATH).close();
      assertThat(directory.resolve("made")).isRegularFile();
      // A mode is not an error if nothing is to be created.
      OpenFile.openAt(SYS, top.number(), Path.of("made"), 0, 0640, 0).close();
    }
    OpenFile.openAt(SYS, WORKING_DIRECTORY, Path.of("."), OpenFlags.directory(), 0, 0).close();
  }
}
