package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

final class PipeTest {
  private static final Sys SYS = Sys.forAnyThread();

  @Test
  void whatGoesInComesOut() throws ErrnoException {
    Pipe pipe = Pipe.open(SYS, false);
    try (Arena arena = Arena.ofConfined();
        Fd reader = pipe.reader()) {
      Fd writer = pipe.writer();
      var room = arena.allocate(16);
      assertThat(Io.read(SYS, reader.number(), room)).isEqualTo(-Errno.EAGAIN);

      assertThat(Io.write(SYS, writer.number(), arena.allocateFrom("belfry"))).isEqualTo(7);

      assertThat(Io.read(SYS, reader.number(), room)).isEqualTo(7);
      assertThat(room.getString(0)).isEqualTo("belfry");
      writer.close();
      assertThat(Io.read(SYS, reader.number(), room)).as("the end").isZero();
    }
  }

  @Test
  void aPipeThatNobodyReadsIsBroken() throws ErrnoException {
    Pipe pipe = Pipe.open(SYS, false);
    try (Arena arena = Arena.ofConfined();
        Fd writer = pipe.writer()) {
      pipe.reader().close();
      assertThat(Io.write(SYS, writer.number(), arena.allocate(1))).isEqualTo(-Errno.EPIPE);
    }
  }

  @Test
  void blockingIsAChoiceAndCloseOnExecIsNot() throws ErrnoException {
    for (boolean blocking : new boolean[] {true, false}) {
      Pipe pipe = Pipe.open(SYS, blocking);
      try (Fd reader = pipe.reader();
          Fd writer = pipe.writer()) {
        assertThat(FdFlags.isNonBlocking(SYS, reader.number())).isEqualTo(!blocking);
        assertThat(FdFlags.isNonBlocking(SYS, writer.number())).isEqualTo(!blocking);
        assertThat(FdFlags.isCloseOnExec(SYS, reader.number())).isTrue();
        assertThat(FdFlags.isCloseOnExec(SYS, writer.number())).isTrue();
      }
    }
  }
}
