package dev.belfry.linux;

import static dev.belfry.linux.FileLocks.Mode.EXCLUSIVE;
import static dev.belfry.linux.FileLocks.Mode.SHARED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two open file descriptions of one path stand for two processes, as locks belong to them. */
final class FileLocksTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final FileLocks.Range BYTES = new FileLocks.Range(128, 64);

  @TempDir Path directory;
  private Fd first;
  private Fd second;

  @BeforeEach
  void open() throws ErrnoException {
    Path file = directory.resolve("lock");
    first = OpenFile.open(SYS, file, OpenFlags.READ_WRITE | OpenFlags.CREATE, 0600);
    second = OpenFile.open(SYS, file, OpenFlags.READ_WRITE, 0);
  }

  @AfterEach
  void close() {
    first.close();
    second.close();
  }

  /** Both kinds behave the same. */
  enum Kind {
    OPEN_FILE_DESCRIPTION {
      @Override
      boolean tryLock(Fd fd, FileLocks.Mode mode) throws ErrnoException {
        return FileLocks.tryLock(SYS, fd.number(), BYTES, mode);
      }

      @Override
      void unlock(Fd fd) throws ErrnoException {
        FileLocks.unlock(SYS, fd.number(), BYTES);
      }
    },
    FLOCK {
      @Override
      boolean tryLock(Fd fd, FileLocks.Mode mode) throws ErrnoException {
        return FileLocks.tryFlock(SYS, fd.number(), mode);
      }

      @Override
      void unlock(Fd fd) throws ErrnoException {
        FileLocks.unflock(SYS, fd.number());
      }
    };

    abstract boolean tryLock(Fd fd, FileLocks.Mode mode) throws ErrnoException;

    abstract void unlock(Fd fd) throws ErrnoException;
  }

  @ParameterizedTest
  @EnumSource
  void anExclusiveLockExcludesUntilItIsGivenBack(Kind kind) throws ErrnoException {
    assertThat(kind.tryLock(first, EXCLUSIVE)).isTrue();
    assertThat(kind.tryLock(second, EXCLUSIVE)).isFalse();
    assertThat(kind.tryLock(second, SHARED)).isFalse();
    assertThat(kind.tryLock(first, EXCLUSIVE)).as("our own is no obstacle").isTrue();

    kind.unlock(first);

    assertThat(kind.tryLock(second, EXCLUSIVE)).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void sharedLocksGoTogether(Kind kind) throws ErrnoException {
    assertThat(kind.tryLock(first, SHARED)).isTrue();
    assertThat(kind.tryLock(second, SHARED)).isTrue();
    assertThat(kind.tryLock(first, EXCLUSIVE)).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void theLockGoesWithTheLastDescriptorOfTheOpenFile(Kind kind) throws ErrnoException {
    Fd duplicate = FdFlags.duplicate(SYS, first.number());
    assertThat(kind.tryLock(first, EXCLUSIVE)).isTrue();
    first.close();
    assertThat(kind.tryLock(second, EXCLUSIVE)).isFalse();
    duplicate.close();
    assertThat(kind.tryLock(second, EXCLUSIVE)).isTrue();
  }

  @Test
  void theTwoKindsDoNotSeeEachOther() throws ErrnoException {
    assertThat(FileLocks.tryLock(SYS, first.number(), BYTES, EXCLUSIVE)).isTrue();
    assertThat(FileLocks.tryFlock(SYS, second.number(), EXCLUSIVE)).isTrue();
  }

  @Test
  void otherBytesOfTheFileAreAnothersToLock() throws ErrnoException {
    var next = new FileLocks.Range(BYTES.start() + BYTES.length(), 1);
    assertThat(FileLocks.tryLock(SYS, first.number(), BYTES, EXCLUSIVE)).isTrue();
    assertThat(FileLocks.tryLock(SYS, second.number(), next, EXCLUSIVE)).isTrue();
  }

  @Test
  void whoLooksSeesTheLocksOfOthers() throws ErrnoException {
    var around = new FileLocks.Range(0, 1000);
    assertThat(FileLocks.isLocked(SYS, second.number(), around)).isFalse();
    assertThat(FileLocks.tryLock(SYS, first.number(), BYTES, EXCLUSIVE)).isTrue();
    assertThat(FileLocks.isLocked(SYS, second.number(), around)).isTrue();
    assertThat(FileLocks.isLocked(SYS, second.number(), new FileLocks.Range(0, BYTES.start())))
        .isFalse();
    assertThat(FileLocks.isLocked(SYS, first.number(), around)).as("our own").isFalse();
    FileLocks.unlock(SYS, first.number(), BYTES);
    assertThat(FileLocks.isLocked(SYS, second.number(), around)).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void aMistakeIsNoRefusal(Kind kind) {
    try (Fd closed = Fd.own(SYS, 1_000_000, "nothing")) {
      assertThatThrownBy(() -> kind.tryLock(closed, SHARED))
          .isInstanceOf(ErrnoException.class)
          .hasMessageContaining("EBADF");
      closed.release();
    }
  }
}
