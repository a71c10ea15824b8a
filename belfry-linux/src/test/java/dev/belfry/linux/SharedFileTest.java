package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class SharedFileTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final String NAME = "shared-file-test";

  private Fd file;

  @BeforeEach
  void open() throws ErrnoException {
    file = SharedFile.createAnonymous(SYS, NAME);
  }

  @AfterEach
  void close() {
    file.close();
  }

  /** The number of mappings of the file in this process. */
  private static long mappings() throws IOException {
    try (var maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(line -> line.contains("/memfd:" + NAME)).count();
    }
  }

  @Test
  void aNewFileIsEmptyAndCloseOnExec() throws ErrnoException {
    assertThat(FileStatus.of(SYS, file.number()).size()).isZero();
    assertThat(FdFlags.isCloseOnExec(SYS, file.number())).isTrue();
    assertThat(SharedFile.seals(SYS, file.number())).as("it can be sealed").isZero();
  }

  @Test
  void sealedItCannotShrinkNorGrow() throws ErrnoException {
    SharedFile.truncate(SYS, file.number(), 8192);
    SharedFile.seal(SYS, file.number(), SharedFile.SEAL_SHRINK);
    assertThatThrownBy(() -> SharedFile.truncate(SYS, file.number(), 4096))
        .isInstanceOf(ErrnoException.class)
        .hasMessage("ftruncate(4096 bytes): EPERM (Operation not permitted)");
    SharedFile.truncate(SYS, file.number(), 12288);

    SharedFile.seal(SYS, file.number(), SharedFile.SEAL_GROW | SharedFile.SEAL_SEAL);
    assertThatThrownBy(() -> SharedFile.truncate(SYS, file.number(), 16384))
        .hasMessageContaining("EPERM");
    assertThatThrownBy(() -> SharedFile.seal(SYS, file.number(), SharedFile.SEAL_WRITE))
        .hasMessageContaining("fcntl(F_ADD_SEALS): EPERM");
    assertThat(SharedFile.seals(SYS, file.number()))
        .isEqualTo(SharedFile.SEAL_SHRINK | SharedFile.SEAL_GROW | SharedFile.SEAL_SEAL);
  }

  @Test
  void sealedAgainstWritingItCannotBeMappedToWrite() throws ErrnoException {
    SharedFile.truncate(SYS, file.number(), 4096);
    SharedFile.seal(SYS, file.number(), SharedFile.SEAL_WRITE);
    try (Arena arena = Arena.ofConfined()) {
      assertThatThrownBy(() -> SharedFile.map(SYS, file.number(), 4096, true, arena))
          .isInstanceOf(ErrnoException.class)
          .hasMessageStartingWith("mmap(4096 bytes of descriptor " + file.number() + "): EPERM");
    }
  }

  @Test
  void allocatingTakesTheMemoryNowAndTruncatingDoesNot() throws IOException {
    SharedFile.truncate(SYS, file.number(), 1 << 20);
    assertThat(bytesTaken()).isZero();

    SharedFile.allocate(SYS, file.number(), 1 << 21);

    assertThat(FileStatus.of(SYS, file.number()).size()).isEqualTo(1 << 21);
    assertThat(bytesTaken()).isEqualTo(1 << 21);
  }

  /** {@code st_blocks}, in units of 512 bytes, is at offset 64 on x86-64 and on aarch64. */
  private long bytesTaken() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment stat = arena.allocate(FileStatus.layout(Arch.current()));
      assertThat(SYS.fstat(file.number(), stat)).isZero();
      return stat.get(JAVA_LONG, 64) * 512;
    }
  }

  /** A file system in memory that is smaller than the requested size. */
  @Test
  void whereThereIsNotEnoughMemoryAllocatingFails() throws IOException {
    Path path = Files.createTempFile(Path.of("/dev/shm"), "belfry-", ".full");
    try (Fd onDisk = OpenFile.open(SYS, path, OpenFlags.READ_WRITE, 0)) {
      long tooMuch = Files.getFileStore(path).getTotalSpace() + (1L << 30);
      assertThatThrownBy(() -> SharedFile.allocate(SYS, onDisk.number(), tooMuch))
          .isInstanceOf(ErrnoException.class)
          .hasMessage("fallocate(" + tooMuch + " bytes): ENOSPC (No space left on device)");
      assertThat(FileStatus.of(SYS, onDisk.number()).size()).isZero();
    } finally {
      Files.delete(path);
    }
  }

  @Test
  void twoMappingsShowEachOthersWrites() throws ErrnoException {
    SharedFile.truncate(SYS, file.number(), 8192);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment one = SharedFile.map(SYS, file.number(), 8192, true, arena);
      MemorySegment two = SharedFile.map(SYS, file.number(), 8192, false, arena);
      assertThat(one.byteSize()).isEqualTo(8192);
      file.close();

      one.set(JAVA_LONG, 4096, 0x1234_5678_9abc_def0L);

      assertThat(two.get(JAVA_LONG, 4096)).isEqualTo(0x1234_5678_9abc_def0L);
      assertThat(two.isReadOnly()).isTrue();
      assertThatThrownBy(() -> two.set(JAVA_LONG, 0, 1))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void closingTheArenaUnmaps() throws IOException {
    SharedFile.truncate(SYS, file.number(), 8192);
    assertThat(mappings()).isZero();
    try (Arena arena = Arena.ofConfined()) {
      SharedFile.map(SYS, file.number(), 8192, true, arena);
      SharedFile.map(SYS, file.number(), 4096, false, arena);
      assertThat(mappings()).isEqualTo(2);
    }
    assertThat(mappings()).isZero();
  }

  @Test
  void anArenaThatIsClosedAlreadyLeavesNoMapping() throws IOException {
    SharedFile.truncate(SYS, file.number(), 4096);
    Arena closed = Arena.ofConfined();
    closed.close();

    assertThatThrownBy(() -> SharedFile.map(SYS, file.number(), 4096, true, closed))
        .isInstanceOf(IllegalStateException.class);

    assertThat(mappings()).isZero();
  }

  @Test
  void nothingCannotBeMapped() {
    try (Arena arena = Arena.ofConfined()) {
      assertThatThrownBy(() -> SharedFile.map(SYS, file.number(), 0, true, arena))
          .hasMessageContaining("EINVAL");
    }
  }
}
