package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class PollSetTest {
  private static final Sys SYS = Sys.forAnyThread();

  @Test
  void itTellsWhatHappenedToWhich() throws ErrnoException {
    Pipe pipe = Pipe.open(SYS, false);
    try (EventFd ready = EventFd.create(SYS);
        EventFd idle = EventFd.create(SYS);
        Fd reader = pipe.reader()) {
      ready.signal();
      pipe.writer().close();
      var set = new PollSet(SYS, 5);
      set.set(0, idle.number(), PollSet.IN);
      set.set(1, ready.number(), PollSet.IN | PollSet.OUT);
      set.set(2, -1, PollSet.IN);
      set.set(3, reader.number(), PollSet.IN);
      set.set(4, 1_000_000, PollSet.IN);

      assertThat(set.await(Futex.FOREVER)).isEqualTo(3);

      assertThat(set.happened(0)).isZero();
      assertThat(set.happened(1)).isEqualTo(PollSet.IN | PollSet.OUT);
      assertThat(set.happened(2)).as("none").isZero();
      assertThat(set.happened(3)).isEqualTo(PollSet.HUP);
      assertThat(set.happened(4)).isEqualTo(PollSet.NVAL);
    }
  }

  @Test
  void aPeerThatStopsWritingIsSeen() throws ErrnoException {
    Sockets.Pair pair = Sockets.pair(SYS, Sockets.Type.STREAM, false);
    try (Fd first = pair.first();
        Fd second = pair.second()) {
      Sockets.shutdown(SYS, second.number(), Sockets.SHUT_WR);
      var set = new PollSet(SYS, 1);
      set.set(0, first.number(), PollSet.RDHUP);

      assertThat(set.await(Futex.FOREVER)).isEqualTo(1);
      assertThat(set.happened(0)).isEqualTo(PollSet.RDHUP);
    }
  }

  @Test
  void theDeadlineIsNeverEarly() throws ErrnoException {
    try (EventFd idle = EventFd.create(SYS)) {
      var set = new PollSet(SYS, 1);
      set.set(0, idle.number(), PollSet.IN);
      for (long nanos = 1; nanos < 100_000_000; nanos *= 11) {
        long deadline = System.nanoTime() + nanos;
        assertThat(set.await(deadline)).isZero();
        assertThat(System.nanoTime())
            .isBetween(deadline, deadline + TimeUnit.SECONDS.toNanos(OnThread.PATIENCE_SECONDS));
      }
      assertThat(set.await(-1)).as("long ago").isZero();
    }
  }
}
