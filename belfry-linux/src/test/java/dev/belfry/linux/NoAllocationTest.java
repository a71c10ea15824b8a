package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The calls of hot paths allocate nothing. */
final class NoAllocationTest {
  private static final int CALLS = 100_000;
  private static final int MOST_ROUNDS = 50;
  private static final double ALMOST_NOTHING = 0.1;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final Arena ARENA = Arena.ofShared();
  private static final MemorySegment BUFFER = ARENA.allocate(64, 8);
  private static Fd file;
  private static Sockets.Pair pair;

  @BeforeAll
  static void open() throws ErrnoException {
    file = SharedFile.createAnonymous(Sys.forAnyThread(), "no-allocation");
    pair = Sockets.pair(Sys.forAnyThread(), Sockets.Type.STREAM, false);
  }

  @AfterAll
  static void close() {
    file.close();
    pair.first().close();
    pair.second().close();
    ARENA.close();
  }

  enum Kind {
    FOR_ANY_THREAD,
    FOR_ONE_THREAD
  }

  /** Makes all the calls once; a negative result shows that a call has failed. */
  private static final class Round implements AutoCloseable {
    private final Sys sys;
    private final Epoll epoll;
    private final EventFd event;
    private final TimerFd timer;
    private final Futex futex;
    private final PollSet poll;
    private final Message message = new Message(Arena.ofAuto(), 1, 0);
    private final EpollEvents batch = new EpollEvents(Arena.ofAuto(), 8);
    private final MemorySegment word = BUFFER.asSlice(0, 4);

    Round(Sys sys) throws ErrnoException {
      this.sys = sys;
      epoll = Epoll.create(sys);
      event = EventFd.create(sys);
      timer = TimerFd.create(sys);
      futex = new Futex(sys);
      poll = new PollSet(sys, 1);
      poll.set(0, event.number(), PollSet.IN);
      message.data().add(BUFFER);
    }

    long run() {
      long worst = Io.writeAt(sys, file.number(), BUFFER, 0);
      worst = Math.min(worst, Io.readAt(sys, file.number(), BUFFER, 0));
      worst = Math.min(worst, Sockets.send(sys, pair.first().number(), BUFFER));
      worst = Math.min(worst, Sockets.receive(sys, pair.second().number(), BUFFER));
      worst = Math.min(worst, message.send(sys, pair.first().number()));
      worst = Math.min(worst, message.receive(sys, pair.second().number()));
      worst = Math.min(worst, epoll.add(event.number(), Epoll.IN, 1));
      worst = Math.min(worst, epoll.modify(event.number(), Epoll.IN | Epoll.ET, 2));
      worst = Math.min(worst, event.signal());
      worst = Math.min(worst, epoll.await(batch, 1_000_000));
      worst = Math.min(worst, batch.token(0));
      worst = Math.min(worst, poll.await(Futex.FOREVER));
      worst = Math.min(worst, event.reset());
      worst = Math.min(worst, epoll.delete(event.number()));
      worst = Math.min(worst, timer.setDeadline(Long.MAX_VALUE));
      worst = Math.min(worst, Futex.wake(sys, word, 1));
      // These fail, and that must cost nothing either.
      long failed = Sockets.receive(sys, pair.second().number(), BUFFER);
      failed += futex.await(word, 1, 1);
      failed += Sockets.accept(sys, -1);
      return failed == -(Errno.EAGAIN + Errno.EAGAIN + Errno.EBADF) ? worst : failed;
    }

    @Override
    public void close() {
      timer.close();
      event.close();
      epoll.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aHotCallAllocatesNothing(Kind kind) throws ErrnoException {
    Sys sys = kind == Kind.FOR_ANY_THREAD ? Sys.forAnyThread() : Sys.forOneThread();
    try (Round round = new Round(sys)) {
      // The compiler is done when it is; until then the interpreter makes boxes.
      double perCall = Double.MAX_VALUE;
      for (int i = 0; i < MOST_ROUNDS && perCall > ALMOST_NOTHING; i++) {
        perCall = bytesPerCall(round);
      }
      assertThat(perCall).isLessThan(ALMOST_NOTHING);
    }
  }

  private static double bytesPerCall(Round round) {
    int rounds = CALLS / 19;
    long before = THREADS.getCurrentThreadAllocatedBytes();
    long worst = 0;
    for (int i = 0; i < rounds; i++) {
      worst = Math.min(worst, round.run());
    }
    long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
    assertThat(worst).as("every call works").isZero();
    return (double) bytes / CALLS;
  }
}
