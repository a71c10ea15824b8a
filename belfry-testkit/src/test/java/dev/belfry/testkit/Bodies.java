package dev.belfry.testkit;

import dev.belfry.linux.Epoll;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.EventFd;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FileStatus;
import dev.belfry.linux.Futex;
import dev.belfry.linux.FutexSet;
import dev.belfry.linux.Iovecs;
import dev.belfry.linux.Message;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.RobustHold;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.linux.TimerFd;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.StandardProtocolFamily;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** The bodies of the operations in the tables, each on resources that it opens itself. */
final class Bodies {
  private static final Sys REAL = Sys.forAnyThread();

  private Bodies() {}

  interface OnFd {
    long run(Sys sys, int fd) throws Exception;
  }

  interface OnBytes {
    long run(Sys sys, int fd, MemorySegment bytes) throws Exception;
  }

  interface WithBytes {
    long run(MemorySegment bytes) throws Exception;
  }

  interface OnEpoll {
    long run(Epoll epoll, int watched) throws Exception;
  }

  interface OnEvent {
    long run(EventFd event);
  }

  interface OnTimer {
    long run(TimerFd timer);
  }

  interface Action {
    void run() throws Exception;
  }

  static Fd openNull(Sys sys) throws Exception {
    return OpenFile.open(sys, Path.of("/dev/null"), OpenFlags.READ_WRITE, 0);
  }

  static Fd tcp(Sys sys) throws Exception {
    return Sockets.open(sys, StandardProtocolFamily.INET, Sockets.Type.STREAM, false);
  }

  static Operation.Body onNull(OnFd body) {
    return sys -> {
      try (Fd fd = openNull(REAL)) {
        return body.run(sys, fd.number());
      }
    };
  }

  static Operation.Body onFile(OnFd body) {
    return sys -> {
      try (Fd fd = SharedFile.createAnonymous(REAL, "fault")) {
        SharedFile.truncate(REAL, fd.number(), 4096);
        return body.run(sys, fd.number());
      }
    };
  }

  static Operation.Body onBytes(OnBytes body) {
    return onFile((sys, fd) -> withByte(bytes -> body.run(sys, fd, bytes)));
  }

  static Operation.Body onTcp(OnFd body) {
    return sys -> {
      try (Fd fd = tcp(REAL)) {
        return body.run(sys, fd.number());
      }
    };
  }

  static Operation.Body onPair(OnFd body) {
    return sys -> {
      Sockets.Pair pair = Sockets.pair(REAL, Sockets.Type.STREAM, false);
      try (Fd first = pair.first();
          Fd second = pair.second()) {
        withByte(bytes -> Sockets.send(REAL, second.number(), bytes));
        return body.run(sys, first.number());
      }
    };
  }

  static Operation.Body onEpoll(OnEpoll body) {
    return sys -> {
      try (Epoll epoll = Epoll.create(sys);
          EventFd watched = EventFd.create(REAL)) {
        return body.run(epoll, watched.number());
      }
    };
  }

  static Operation.Body onEvent(OnEvent body) {
    return sys -> {
      try (EventFd event = EventFd.create(sys)) {
        return body.run(event);
      }
    };
  }

  static Operation.Body onTimer(OnTimer body) {
    return sys -> {
      try (TimerFd timer = TimerFd.create(sys)) {
        return body.run(timer);
      }
    };
  }

  static long withByte(WithBytes body) throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      return body.run(arena.allocate(4, 4));
    }
  }

  static Iovecs pieces(MemorySegment bytes) {
    var pieces = new Iovecs(Arena.ofAuto(), 1);
    pieces.add(bytes);
    return pieces;
  }

  static long watch(Epoll epoll, int watched) {
    return epoll.add(watched, Epoll.IN, 1);
  }

  static long poll(Sys sys) throws Exception {
    try (EventFd ready = EventFd.create(REAL)) {
      ready.signal();
      var set = new PollSet(sys, 1);
      set.set(0, ready.number(), PollSet.IN);
      return set.await(Futex.FOREVER);
    }
  }

  static long awaitAny(Sys sys) throws Exception {
    return withByte(
        word -> {
          var set = new FutexSet(sys, 1);
          set.set(0, word, 1);
          return set.await(1, Futex.FOREVER);
        });
  }

  /** Runs on a thread of its own, whose robust list is gone afterwards. */
  static long hold(Sys sys) throws Exception {
    var result = new CompletableFuture<Long>();
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (Arena arena = Arena.ofConfined();
                      RobustHold hold = RobustHold.tryTake(sys, arena.allocate(4, 4))) {
                    result.complete(hold == null ? 1L : 0L);
                  } catch (ErrnoException | RuntimeException e) {
                    result.completeExceptionally(e);
                  }
                });
    thread.join(); // it has released what it held
    try {
      return result.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  static long map(Sys sys, int fd) throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      return SharedFile.map(sys, fd, 4096, true, arena).byteSize();
    }
  }

  static long sendMessage(Sys sys, int fd) throws Exception {
    return withByte(
        bytes -> {
          var message = new Message(Arena.ofAuto(), 1, 1);
          message.data().add(bytes);
          message.addDescriptor(fd);
          return message.send(sys, fd);
        });
  }

  static long receiveMessage(Sys sys, int fd) throws Exception {
    return withByte(
        bytes -> {
          var message = new Message(Arena.ofAuto(), 1, 1);
          message.data().add(bytes);
          return message.receive(sys, fd);
        });
  }

  static long status(Sys sys, int fd) throws Exception {
    return FileStatus.of(sys, fd).mode();
  }

  static long nothing(Action action) throws Exception {
    action.run();
    return 0;
  }

  static long close(AutoCloseable opened) throws Exception {
    opened.close();
    return 0;
  }

  static long close(Pipe pipe) {
    pipe.reader().close();
    pipe.writer().close();
    return 0;
  }

  static long close(Sockets.Pair pair) {
    pair.first().close();
    pair.second().close();
    return 0;
  }
}
