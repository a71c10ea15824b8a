package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class FdFlagsTest {
  private static final Sys SYS = Sys.forAnyThread();

  private EventFd event;

  @BeforeEach
  void open() throws ErrnoException {
    event = EventFd.create(SYS);
  }

  @AfterEach
  void close() {
    event.close();
  }

  @Test
  void flagsAreSetAndCleared() throws ErrnoException {
    int fd = event.number();
    FdFlags.setNonBlocking(SYS, fd, false);
    assertThat(FdFlags.isNonBlocking(SYS, fd)).isFalse();
    FdFlags.setNonBlocking(SYS, fd, true);
    assertThat(FdFlags.isNonBlocking(SYS, fd)).isTrue();
    FdFlags.setCloseOnExec(SYS, fd, false);
    assertThat(FdFlags.isCloseOnExec(SYS, fd)).isFalse();
    FdFlags.setCloseOnExec(SYS, fd, true);
    assertThat(FdFlags.isCloseOnExec(SYS, fd)).isTrue();
  }

  @Test
  void aDuplicateIsTheSameOpenFile() throws ErrnoException {
    try (Fd copy = FdFlags.duplicate(SYS, event.number());
        Fd high = FdFlags.duplicate(SYS, event.number(), 700)) {
      assertThat(copy.number()).isNotEqualTo(event.number());
      assertThat(high.number()).isGreaterThanOrEqualTo(700);
      assertThat(FdFlags.isCloseOnExec(SYS, copy.number())).isTrue();
      FdFlags.setNonBlocking(SYS, high.number(), false);
      assertThat(FdFlags.isNonBlocking(SYS, event.number())).isFalse();
    }
  }

  @Test
  void aNumberCanBeMadeToReferToSomethingElse() throws ErrnoException {
    try (EventFd other = EventFd.create(SYS)) {
      FdFlags.duplicateTo(SYS, event.number(), other.number());
      other.signal();
      assertThat(event.reset()).isEqualTo(1);
      assertThat(FdFlags.isCloseOnExec(SYS, other.number())).isTrue();
    }
  }

  @Test
  void aClosedNumberIsNamed() {
    assertThatThrownBy(() -> FdFlags.duplicate(SYS, 1_000_000))
        .isInstanceOf(ErrnoException.class)
        .hasMessage("fcntl(F_DUPFD_CLOEXEC of 1000000): EBADF (Bad file descriptor)");
    assertThatThrownBy(() -> FdFlags.isNonBlocking(SYS, 1_000_000)).hasMessageContaining("EBADF");
    assertThatThrownBy(() -> FdFlags.isCloseOnExec(SYS, 1_000_000)).hasMessageContaining("EBADF");
    assertThatThrownBy(() -> FdFlags.duplicateTo(SYS, 1_000_000, 5))
        .hasMessageStartingWith("dup3(1000000 to 5): EBADF");
  }
}
