package dev.belfry.testkit;

import static dev.belfry.linux.Errno.EBADF;
import static dev.belfry.linux.Errno.EINPROGRESS;
import static dev.belfry.linux.Errno.EINTR;
import static dev.belfry.linux.Errno.EIO;
import static dev.belfry.linux.Errno.EMFILE;
import static dev.belfry.linux.Errno.ENOMEM;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.EventFd;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Futex;
import dev.belfry.linux.FutexSet;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.RobustMutex;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalActions;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Failures that have a special meaning for the call. */
final class SpecialFaultsTest {
  private static final Sys REAL = Sys.forAnyThread();

  private final SysTap tap = SysTap.over(REAL);

  @Test
  void anInterruptedConnectIsInProgressAndNotTriedAgain() throws Exception {
    try (Fd listener = tcp();
        Fd client = tcp();
        Arena arena = Arena.ofConfined()) {
      InetSocketAddress any = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);
      Sockets.bind(REAL, listener.number(), any);
      Sockets.listen(REAL, listener.number(), 1);
      MemorySegment address = Sockets.encode(arena, Sockets.localAddress(REAL, listener.number()));
      // The kernel goes on connecting although the call was interrupted; see connect(2).
      tap.script(
          "connect",
          (_, arguments) -> {
            REAL.connect((int) arguments[0], (MemorySegment) arguments[1], (int) arguments[2]);
            return OptionalLong.of(-EINTR);
          });

      assertThat(Sockets.connect(tap.sys(), client.number(), address)).isEqualTo(-EINPROGRESS);

      assertThat(tap.calls("connect")).isEqualTo(1);
      var set = new PollSet(REAL, 1);
      set.set(0, client.number(), PollSet.OUT);
      assertThat(set.await(System.nanoTime() + TestProcess.PATIENCE.toNanos())).isEqualTo(1);
      assertThat(Sockets.takeError(REAL, client.number())).isZero();
    }
  }

  @Test
  void otherErrorsOfConnectAreReturned() throws Exception {
    try (Fd client = tcp();
        Arena arena = Arena.ofConfined()) {
      for (int errno : new int[] {Errno.EAGAIN, EMFILE, ENOMEM, Errno.ECONNREFUSED}) {
        tap.fail("connect", errno);
        assertThat(Sockets.connect(tap.sys(), client.number(), arena.allocate(16)))
            .isEqualTo(-errno);
      }
    }
  }

  private static Fd tcp() throws ErrnoException {
    return Sockets.open(REAL, StandardProtocolFamily.INET, Sockets.Type.STREAM, false);
  }

  @Test
  void closeIsNeverRepeated() throws ErrnoException {
    for (int errno : new int[] {EINTR, EIO, Errno.EAGAIN, ENOMEM}) {
      EventFd event = EventFd.create(tap.sys());
      int number = event.number();
      long before = tap.calls("close");
      tap.fail("close", errno);
      event.close();
      event.close();
      assertThat(tap.calls("close") - before).isEqualTo(1);
      REAL.close(number);
      tap.pass("close");
    }
  }

  @Test
  void aNumberThatWasNotOpenIsReported() throws ErrnoException {
    EventFd event = EventFd.create(tap.sys());
    REAL.close(event.number());
    tap.fail("close", EBADF);
    assertThatThrownBy(event::close).isInstanceOf(IllegalStateException.class);
  }

  /** The times that a wait passes to the kernel, each time it is repeated. */
  private List<Long> interrupt(String call, int timespecAt, long pauseNanos) {
    var times = new ArrayList<Long>();
    tap.script(
        call,
        (nth, arguments) -> {
          var timespec = (MemorySegment) arguments[timespecAt];
          times.add(
              TimeUnit.SECONDS.toNanos(timespec.get(JAVA_LONG, 0)) + timespec.get(JAVA_LONG, 8));
          if (nth > 3) {
            return OptionalLong.empty();
          }
          long until = System.nanoTime() + pauseNanos;
          while (System.nanoTime() < until) {
            LockSupport.parkNanos(until - System.nanoTime());
          }
          return OptionalLong.of(-EINTR);
        });
    return times;
  }

  @Test
  void anInterruptedFutexWaitKeepsItsDeadline() {
    List<Long> deadlines = interrupt("futex", 3, 1_000_000);
    try (Arena arena = Arena.ofConfined()) {
      long deadline = System.nanoTime() + 30_000_000;
      assertThat(new Futex(tap.sys()).await(arena.allocate(4, 4), 0, deadline))
          .isEqualTo(-Errno.ETIMEDOUT);
      assertThat(System.nanoTime()).isGreaterThanOrEqualTo(deadline);
      assertThat(deadlines).containsExactly(deadline, deadline, deadline, deadline);
    }
  }

  @Test
  void anInterruptedWaitForManyWordsKeepsItsDeadline() {
    List<Long> deadlines = interrupt("futexWaitv", 3, 1_000_000);
    try (Arena arena = Arena.ofConfined()) {
      var set = new FutexSet(tap.sys(), 1);
      set.set(0, arena.allocate(4, 4), 0);
      long deadline = System.nanoTime() + 30_000_000;
      assertThat(set.await(1, deadline)).isEqualTo(-Errno.ETIMEDOUT);
      assertThat(deadlines).containsExactly(deadline, deadline, deadline, deadline);
    }
  }

  @Test
  void anInterruptedPollWaitsForTheRestOnly() throws ErrnoException {
    long pause = 20_000_000;
    List<Long> rests = interrupt("ppoll", 2, pause);
    try (EventFd idle = EventFd.create(REAL)) {
      var set = new PollSet(tap.sys(), 1);
      set.set(0, idle.number(), PollSet.IN);
      long start = System.nanoTime();

      assertThat(set.await(start + 100_000_000)).isZero();

      assertThat(System.nanoTime() - start).isBetween(100_000_000L, 30_000_000_000L);
      assertThat(rests).hasSize(4);
      for (int i = 0; i < rests.size(); i++) {
        assertThat(rests.get(i)).isBetween(0L, 100_000_000 - i * pause);
      }
    }
  }

  @Test
  void anInterruptedSigactionIsRepeatedAndAFailedOneThrown() throws ErrnoException {
    tap.script("sigaction", (nth, _) -> OptionalLong.of(nth <= 2 ? -EINTR : 0));
    SignalActions.restoreDefault(tap.sys(), SigSet.of(Signo.INT, Signo.QUIT));
    assertThat(tap.calls("sigaction")).isEqualTo(4);

    tap.fail("sigaction", ENOMEM);
    assertThatThrownBy(() -> SignalActions.restoreDefault(tap.sys(), SigSet.of(Signo.INT)))
        .hasMessageStartingWith("sigaction(SIGINT): ENOMEM");
  }

  @Test
  void givingAMutexBackIsRepeatedWhenInterruptedAndThrowsWhenItFails() throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      var mutex = new RobustMutex(tap.sys(), arena.allocate(RobustMutex.bytes(), 8));
      for (String call : List.of("pthreadMutexUnlock", "pthreadMutexConsistent")) {
        tap.script(call, (nth, _) -> OptionalLong.of(nth <= 2 ? -EINTR : nth == 3 ? 0 : -ENOMEM));
      }
      mutex.unlock();
      mutex.makeConsistent();
      assertThat(tap.calls("pthreadMutexUnlock")).isEqualTo(3);
      assertThat(tap.calls("pthreadMutexConsistent")).isEqualTo(3);
      assertThatThrownBy(mutex::unlock).hasMessageStartingWith("pthread_mutex_unlock(");
      assertThatThrownBy(mutex::makeConsistent).hasMessageStartingWith("pthread_mutex_consistent(");
    }
  }

  @Test
  void aChildThatCannotBeWatchedIsKilledAndReaped() {
    long children = ProcessHandle.current().children().count();
    tap.fail("pidfdOpen", EMFILE);
    tap.failFirst("waitid", 2, EINTR);

    assertThatThrownBy(() -> Spawn.command("sleep", "1000").start(tap.sys()))
        .isInstanceOf(ErrnoException.class)
        .hasMessageContaining("EMFILE");

    assertThat(tap.calls("kill")).isEqualTo(1);
    assertThat(tap.calls("waitid")).isEqualTo(3);
    assertThat(ProcessHandle.current().children().count()).isEqualTo(children);
  }

  /** The failure is not reported; the mapping counts as gone, as in the JDK itself. */
  @Test
  void aFailedUnmapDoesNotKeepTheArenaFromClosing() throws ErrnoException {
    try (Fd file = SharedFile.createAnonymous(REAL, "unmap")) {
      SharedFile.truncate(REAL, file.number(), 4096);
      var mapped = new ArrayList<Object[]>();
      tap.script(
          "munmap",
          (_, arguments) -> {
            mapped.add(arguments);
            return OptionalLong.of(-ENOMEM);
          });
      try (Arena arena = Arena.ofConfined()) {
        SharedFile.map(tap.sys(), file.number(), 4096, true, arena);
      }
      assertThat(mapped).hasSize(1);
      assertThat(REAL.munmap((long) mapped.getFirst()[0], (long) mapped.getFirst()[1])).isZero();
    }
  }
}
