package dev.belfry.testkit;

import com.sun.management.ThreadMXBean;
import dev.belfry.linux.Epoll;
import dev.belfry.linux.EpollEvents;
import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.EventFd;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Futex;
import dev.belfry.linux.FutexSet;
import dev.belfry.linux.Io;
import dev.belfry.linux.Iovecs;
import dev.belfry.linux.Message;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.linux.TimerFd;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.List;

/**
 * Makes each call of the hot paths very often and prints how many bytes it allocated, in a JVM of
 * its own.
 */
final class HotCalls {
  private static final int CALLS = 30_000;

  /** More than one, because a method that is compiled during a round has allocated before. */
  private static final int MAX_ROUNDS = 20;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private HotCalls() {}

  /** Makes a call; a negative result means that it went wrong. */
  interface Attempt {
    long make(Facilities on);
  }

  /** A call and its name. */
  record Hot(String name, Attempt attempt) {}

  /** Each call is compiled on its own, as in a program, where they are not all in one method. */
  static final List<Hot> CALLS_TO_MAKE =
      List.of(
          new Hot("READ", on -> Io.read(on.sys, on.file.number(), on.buffer)),
          new Hot(
              "WRITE",
              on -> Io.write(on.sys, on.pair.first().number(), on.buffer) == 64 ? on.drain() : -1),
          new Hot("READ_PIECES", on -> Io.read(on.sys, on.file.number(), on.pieces)),
          new Hot(
              "WRITE_PIECES",
              on -> Io.write(on.sys, on.pair.first().number(), on.pieces) == 64 ? on.drain() : -1),
          new Hot("READ_AT", on -> Io.readAt(on.sys, on.file.number(), on.buffer, 0)),
          new Hot("WRITE_AT", on -> Io.writeAt(on.sys, on.file.number(), on.buffer, 0)),
          new Hot(
              "SEND_AND_RECEIVE",
              on ->
                  Sockets.send(on.sys, on.pair.first().number(), on.buffer) == 64
                      ? on.drain()
                      : -1),
          new Hot("RECEIVE_NOTHING", on -> expect(on.drain(), -Errno.EAGAIN)),
          new Hot(
              "MESSAGE",
              on ->
                  on.message.send(on.sys, on.pair.first().number()) == 64
                      ? on.message.receive(on.sys, on.pair.second().number()) - 64
                      : -1),
          new Hot("ACCEPT_FAILS", on -> expect(Sockets.accept(on.sys, -1), -Errno.EBADF)),
          new Hot(
              "EPOLL_ADD_AND_DELETE",
              on ->
                  on.epoll.add(on.event.number(), Epoll.IN, 1)
                      + on.epoll.delete(on.event.number())),
          new Hot("EPOLL_MODIFY", on -> on.epoll.modify(on.ready.number(), Epoll.IN, 7)),
          new Hot(
              "EPOLL_AWAIT",
              on -> expect(on.epoll.await(on.batch, 1_000_000_000) * on.batch.token(0), 7)),
          new Hot("EPOLL_AWAIT_NOTHING", on -> on.idleEpoll.await(on.batch, 0)),
          new Hot("EVENT", on -> on.event.signal() == 8 ? on.event.reset() - 1 : -1),
          new Hot("TIMER", on -> on.timer.setDeadline(Long.MAX_VALUE)),
          new Hot("POLL", on -> on.poll.await(Futex.FOREVER) - 1),
          new Hot("FUTEX_WAKE", on -> Futex.wake(on.sys, on.word, 1)),
          new Hot(
              "FUTEX_AWAIT_FAILS",
              on -> expect(on.futex.await(on.word, 1, Futex.FOREVER), -Errno.EAGAIN)),
          new Hot("FUTEX_SET_FAILS", on -> expect(on.futexes.await(1, 1), -Errno.EAGAIN)));

  private static long expect(long actual, long expected) {
    return actual == expected ? 0 : -1;
  }

  /** The resources that the calls use. */
  static final class Facilities implements AutoCloseable {
    private final Sys sys;
    private final MemorySegment buffer;
    private final MemorySegment word;
    private final Iovecs pieces;
    private final Message message;
    private final EpollEvents batch;
    private final Fd file;
    private final Sockets.Pair pair;
    private final Epoll epoll;
    private final Epoll idleEpoll;
    private final EventFd ready;
    private final EventFd event;
    private final TimerFd timer;
    private final PollSet poll;
    private final Futex futex;
    private final FutexSet futexes;

    Facilities(Sys sys, Arena arena) throws ErrnoException {
      this.sys = sys;
      buffer = arena.allocate(64, 8);
      word = arena.allocate(4, 4);
      pieces = new Iovecs(arena, 1);
      pieces.add(buffer);
      message = new Message(arena, 1, 1);
      message.data().add(buffer);
      batch = new EpollEvents(arena, 8);
      file = SharedFile.createAnonymous(sys, "no-allocation");
      pair = Sockets.pair(sys, Sockets.Type.STREAM, false);
      epoll = Epoll.create(sys);
      idleEpoll = Epoll.create(sys);
      ready = EventFd.create(sys);
      ready.signal();
      epoll.add(ready.number(), Epoll.IN, 7);
      event = EventFd.create(sys);
      timer = TimerFd.create(sys);
      poll = new PollSet(sys, 1);
      poll.set(0, ready.number(), PollSet.IN);
      futex = new Futex(sys);
      futexes = new FutexSet(sys, 1);
      futexes.set(0, word, 1);
    }

    private long drain() {
      return Sockets.receive(sys, pair.second().number(), buffer);
    }

    @Override
    public void close() {
      timer.close();
      event.close();
      ready.close();
      epoll.close();
      idleEpoll.close();
      pair.first().close();
      pair.second().close();
      file.close();
    }
  }

  /**
   * Prints {@code CALL BYTES-PER-CALL} for each call; the argument selects the kind of system
   * calls.
   */
  public static void main(String[] args) throws ErrnoException {
    Sys sys = args[0].equals("one") ? Sys.forOneThread() : Sys.forAnyThread();
    try (Arena arena = Arena.ofShared();
        var facilities = new Facilities(sys, arena)) {
      for (Hot call : CALLS_TO_MAKE) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < MAX_ROUNDS && least > 0; i++) {
          least = Math.min(least, bytesAllocated(facilities, call));
        }
        System.out.println(call.name() + " " + (double) least / CALLS);
      }
    }
  }

  private static long bytesAllocated(Facilities facilities, Hot call) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    long worst = 0;
    for (int i = 0; i < CALLS; i++) {
      worst = Math.min(worst, call.attempt().make(facilities));
    }
    long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
    if (worst < 0) {
      throw new AssertionError(call.name() + " does not work: " + worst);
    }
    return bytes;
  }
}
