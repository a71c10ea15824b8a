package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

final class EventFdTest {
  private static final Sys SYS = Sys.forAnyThread();

  @Test
  void itCountsSignalsUntilItIsReset() throws ErrnoException {
    try (EventFd event = EventFd.create(SYS)) {
      assertThat(event.reset()).isEqualTo(-Errno.EAGAIN);
      assertThat(event.signal()).isEqualTo(8);
      assertThat(event.signal()).isEqualTo(8);
      assertThat(event.signal()).isEqualTo(8);

      assertThat(event.reset()).isEqualTo(3);
      assertThat(event.reset()).isEqualTo(-Errno.EAGAIN);
    }
  }

  @Test
  void aFullCounterRefusesMoreAndIsStillSet() throws ErrnoException {
    try (EventFd event = EventFd.create(SYS);
        Arena arena = Arena.ofConfined()) {
      long most = 0xffff_ffff_ffff_fffeL;
      Io.write(SYS, event.number(), arena.allocateFrom(ValueLayout.JAVA_LONG, most));

      assertThat(event.signal()).isEqualTo(-Errno.EAGAIN);

      assertThat(event.reset()).isEqualTo(most);
    }
  }

  @Test
  void itWakesAThreadThatWaits() throws Exception {
    try (EventFd event = EventFd.create(SYS)) {
      OnThread<Integer> waiter =
          OnThread.call(
              () -> {
                var set = new PollSet(SYS, 1);
                set.set(0, event.number(), PollSet.IN);
                return set.await(Futex.FOREVER);
              });

      event.signal();

      assertThat(waiter.result()).isEqualTo(1);
    }
  }

  @Test
  void itIsCloseOnExecAndNeverBlocks() throws ErrnoException {
    try (EventFd event = EventFd.create(SYS)) {
      assertThat(FdFlags.isCloseOnExec(SYS, event.number())).isTrue();
      assertThat(FdFlags.isNonBlocking(SYS, event.number())).isTrue();
    }
  }
}
