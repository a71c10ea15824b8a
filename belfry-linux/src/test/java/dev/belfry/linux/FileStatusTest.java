package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FileStatusTest {
  private static final Sys SYS = Sys.forAnyThread();

  @TempDir Path directory;

  @Test
  void itSaysWhatJavaSaysAboutAFile() throws IOException {
    Path file = Files.write(directory.resolve("file"), new byte[12345]);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    Files.createLink(directory.resolve("second name"), file);
    try (Fd fd = OpenFile.open(SYS, file, OpenFlags.READ_ONLY, 0)) {
      FileStatus status = FileStatus.of(SYS, fd.number());

      assertThat(status.size()).isEqualTo(12345);
      assertThat(status.inode()).isEqualTo(Files.getAttribute(file, "unix:ino"));
      assertThat(status.device()).isEqualTo(Files.getAttribute(file, "unix:dev"));
      assertThat(status.links()).isEqualTo(2);
      assertThat(status.uid()).isEqualTo(Files.getAttribute(file, "unix:uid"));
      assertThat(status.mode()).isEqualTo(Files.getAttribute(file, "unix:mode"));
      assertThat(status.permissions()).isEqualTo(0640);
      assertThat(status.isRegular()).isTrue();
      assertThat(status.isDirectory()).isFalse();

      Files.delete(file);
      Files.delete(directory.resolve("second name"));
      assertThat(FileStatus.of(SYS, fd.number()).links()).isZero();
    }
  }

  @Test
  void itKnowsDirectoriesAndSockets() throws IOException {
    try (Fd fd = OpenFile.open(SYS, directory, OpenFlags.READ_ONLY, 0)) {
      assertThat(FileStatus.of(SYS, fd.number()).isDirectory()).isTrue();
      assertThat(FileStatus.of(SYS, fd.number()).isRegular()).isFalse();
    }
    Sockets.Pair pair = Sockets.pair(SYS, Sockets.Type.STREAM, false);
    try (Fd first = pair.first();
        Fd _ = pair.second()) {
      assertThat(FileStatus.of(SYS, first.number()).isSocket()).isTrue();
    }
  }

  @Test
  void aClosedNumberIsNamed() {
    assertThatThrownBy(() -> FileStatus.of(SYS, 1_000_000))
        .isInstanceOf(ErrnoException.class)
        .hasMessage("fstat(descriptor 1000000): EBADF (Bad file descriptor)");
  }
}
