package dev.belfry.testkit;

import static dev.belfry.testkit.Bodies.close;
import static dev.belfry.testkit.Bodies.nothing;
import static dev.belfry.testkit.Bodies.onBytes;
import static dev.belfry.testkit.Bodies.onEpoll;
import static dev.belfry.testkit.Bodies.onEvent;
import static dev.belfry.testkit.Bodies.onNull;
import static dev.belfry.testkit.Bodies.onPair;
import static dev.belfry.testkit.Bodies.onTcp;
import static dev.belfry.testkit.Bodies.onTimer;
import static dev.belfry.testkit.Bodies.openNull;
import static dev.belfry.testkit.Bodies.pieces;
import static dev.belfry.testkit.Bodies.status;
import static dev.belfry.testkit.Bodies.tcp;
import static dev.belfry.testkit.Bodies.withByte;
import static dev.belfry.testkit.Operation.Policy.LOCKS;
import static dev.belfry.testkit.Operation.Policy.RETURNS;
import static dev.belfry.testkit.Operation.Policy.RETURNS_ALL;
import static dev.belfry.testkit.Operation.Policy.THROWS;
import static dev.belfry.testkit.Operation.row;

import dev.belfry.linux.Epoll;
import dev.belfry.linux.EpollEvents;
import dev.belfry.linux.EventFd;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.FileLocks;
import dev.belfry.linux.Io;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalFd;
import dev.belfry.linux.SignalMask;
import dev.belfry.linux.SignalRecords;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.linux.Terminal;
import dev.belfry.linux.TimerFd;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The operations on descriptors: files, sockets, events. */
final class DescriptorOperations {
  private static final Sys REAL = Sys.forAnyThread();
  private static final FileLocks.Range BYTES = new FileLocks.Range(0, 1);
  private static final InetSocketAddress LOCAL =
      new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);

  private DescriptorOperations() {}

  static Stream<Operation> all() {
    return Stream.of(files(), io(), sockets(), events()).flatMap(rows -> rows);
  }

  private static Stream<Operation> files() {
    return Stream.of(
        row("OpenFile.open", "openat", "openat", THROWS, sys -> close(openNull(sys))),
        row(
            "OpenFile.openAt",
            "openat2",
            "openat2",
            THROWS,
            sys ->
                close(
                    OpenFile.openAt(
                        sys, OpenFile.WORKING_DIRECTORY, Path.of("/dev/null"), 0, 0, 0))),
        row("FileStatus.of", "fstat", "fstat", THROWS, onNull((sys, fd) -> status(sys, fd))),
        row(
            "FdFlags.isNonBlocking",
            "fcntl",
            "fcntl",
            THROWS,
            onNull((sys, fd) -> FdFlags.isNonBlocking(sys, fd) ? 1 : 0)),
        row(
            "FdFlags.isCloseOnExec",
            "fcntl",
            "fcntl",
            THROWS,
            onNull((sys, fd) -> FdFlags.isCloseOnExec(sys, fd) ? 1 : 0)),
        row(
            "FdFlags.setCloseOnExec",
            "fcntl",
            "fcntl",
            THROWS,
            onNull((sys, fd) -> nothing(() -> FdFlags.setCloseOnExec(sys, fd, true)))),
        row("FdFlags.setNonBlocking", "fcntl", "fcntl", THROWS, setNonBlocking()),
        new Operation("FdFlags.setNonBlocking", "fcntl", "fcntl", 2, THROWS, setNonBlocking()),
        row(
            "FdFlags.duplicate",
            "fcntl",
            "fcntl",
            THROWS,
            onNull((sys, fd) -> close(FdFlags.duplicate(sys, fd)))),
        row(
            "FdFlags.duplicateTo",
            "dup3",
            "dup3",
            THROWS,
            onNull(
                (sys, fd) -> {
                  try (Fd target = FdFlags.duplicate(REAL, fd)) {
                    FdFlags.duplicateTo(sys, fd, target.number());
                    return 0;
                  }
                })),
        row(
            "FileLocks.tryLock",
            "fcntl",
            "fcntl",
            LOCKS,
            onNull((sys, fd) -> FileLocks.tryLock(sys, fd, BYTES, FileLocks.Mode.SHARED) ? 1 : 0)),
        row(
            "FileLocks.isLocked",
            "fcntl",
            "fcntl",
            THROWS,
            onNull((sys, fd) -> FileLocks.isLocked(sys, fd, BYTES) ? 1 : 0)),
        row(
            "FileLocks.tryFlock",
            "flock",
            "flock",
            LOCKS,
            onNull((sys, fd) -> FileLocks.tryFlock(sys, fd, FileLocks.Mode.SHARED) ? 1 : 0)),
        row(
            "Terminal.size",
            "ioctl",
            "ioctl",
            THROWS,
            onNull((sys, fd) -> Terminal.size(sys, fd) == null ? 0 : 1)),
        row("Pipe.open", "pipe2", "pipe2", THROWS, sys -> close(Pipe.open(sys, false))));
  }

  private static Operation.Body setNonBlocking() {
    return onNull((sys, fd) -> nothing(() -> FdFlags.setNonBlocking(sys, fd, true)));
  }

  private static Stream<Operation> io() {
    return Stream.of(
        row("Io.read", "read", "read", RETURNS, onBytes((sys, fd, b) -> Io.read(sys, fd, b))),
        row("Io.write", "write", "write", RETURNS, onBytes((sys, fd, b) -> Io.write(sys, fd, b))),
        row(
            "Io.readAt",
            "pread",
            "pread",
            RETURNS,
            onBytes((sys, fd, b) -> Io.readAt(sys, fd, b, 0))),
        row(
            "Io.writeAt",
            "pwrite",
            "pwrite",
            RETURNS,
            onBytes((sys, fd, b) -> Io.writeAt(sys, fd, b, 0))),
        row(
            "Io.read of pieces",
            "readv",
            "readv",
            RETURNS,
            onBytes((sys, fd, b) -> Io.read(sys, fd, pieces(b)))),
        row(
            "Io.write of pieces",
            "writev",
            "writev",
            RETURNS,
            onBytes((sys, fd, b) -> Io.write(sys, fd, pieces(b)))));
  }

  private static Stream<Operation> sockets() {
    return Stream.of(
        row("Sockets.open", "socket", "socket", THROWS, sys -> close(tcp(sys))),
        row(
            "Sockets.pair",
            "socketpair",
            "socketpair",
            THROWS,
            sys -> close(Sockets.pair(sys, Sockets.Type.STREAM, false))),
        row(
            "Sockets.bind",
            "bind",
            "bind",
            THROWS,
            onTcp((sys, fd) -> nothing(() -> Sockets.bind(sys, fd, LOCAL)))),
        row(
            "Sockets.listen",
            "listen",
            "listen",
            THROWS,
            onTcp((sys, fd) -> nothing(() -> Sockets.listen(sys, fd, 1)))),
        row(
            "Sockets.accept",
            "accept4",
            "accept4",
            RETURNS,
            onTcp(
                (sys, fd) -> {
                  Sockets.listen(REAL, fd, 1);
                  return Sockets.accept(sys, fd);
                })),
        row(
            "Sockets.shutdown",
            "shutdown",
            "shutdown",
            THROWS,
            onPair((sys, fd) -> nothing(() -> Sockets.shutdown(sys, fd, Sockets.SHUT_WR)))),
        row(
            "Sockets.localAddress",
            "getsockname",
            "getsockname",
            THROWS,
            onPair((sys, fd) -> Sockets.localAddress(sys, fd).hashCode())),
        row(
            "Sockets.remoteAddress",
            "getpeername",
            "getpeername",
            THROWS,
            onPair((sys, fd) -> Sockets.remoteAddress(sys, fd).hashCode())),
        row(
            "Sockets.takeError",
            "getsockopt",
            "getsockopt",
            THROWS,
            onPair((sys, fd) -> Sockets.takeError(sys, fd))),
        row(
            "Sockets.setOption",
            "setsockopt",
            "setsockopt",
            THROWS,
            onPair((sys, fd) -> nothing(() -> Sockets.setOption(sys, fd, 1, 2, 1)))),
        row(
            "Sockets.resetOnClose",
            "setsockopt",
            "setsockopt",
            THROWS,
            onPair((sys, fd) -> nothing(() -> Sockets.resetOnClose(sys, fd)))),
        row(
            "Sockets.send",
            "send",
            "send",
            RETURNS,
            onPair((sys, fd) -> withByte(b -> Sockets.send(sys, fd, b)))),
        row(
            "Sockets.receive",
            "recv",
            "recv",
            RETURNS,
            onPair((sys, fd) -> withByte(b -> Sockets.receive(sys, fd, b)))),
        row("Message.send", "sendmsg", "sendmsg", RETURNS, onPair(Bodies::sendMessage)),
        row("Message.receive", "recvmsg", "recvmsg", RETURNS, onPair(Bodies::receiveMessage)));
  }

  private static Stream<Operation> events() {
    return Stream.of(
        row(
            "Epoll.create",
            "epollCreate1",
            "epoll_create1",
            THROWS,
            sys -> close(Epoll.create(sys))),
        row("Epoll.add", "epollCtl", "epoll_ctl", RETURNS_ALL, onEpoll(Bodies::watch)),
        row(
            "Epoll.await",
            "epollPwait2",
            "epoll_pwait2",
            RETURNS_ALL,
            onEpoll((epoll, _) -> epoll.await(new EpollEvents(Arena.ofAuto(), 1), 0))),
        row(
            "Epoll.awaitMillis",
            "epollWait",
            "epoll_wait",
            RETURNS_ALL,
            onEpoll((epoll, _) -> epoll.awaitMillis(new EpollEvents(Arena.ofAuto(), 1), 0))),
        row("EventFd.create", "eventfd", "eventfd", THROWS, sys -> close(EventFd.create(sys))),
        row("EventFd.signal", "write", "write", RETURNS, onEvent(EventFd::signal)),
        row("EventFd.reset", "read", "read", RETURNS, onEvent(EventFd::reset)),
        row(
            "TimerFd.create",
            "timerfdCreate",
            "timerfd_create",
            THROWS,
            sys -> close(TimerFd.create(sys))),
        row(
            "TimerFd.setDeadline",
            "timerfdSettime",
            "timerfd_settime",
            RETURNS_ALL,
            onTimer(timer -> timer.setDeadline(1))),
        row(
            "TimerFd.clear",
            "timerfdSettime",
            "timerfd_settime",
            RETURNS_ALL,
            onTimer(TimerFd::clear)),
        row(
            "SignalFd.open",
            "signalfd",
            "signalfd",
            THROWS,
            sys -> close(SignalFd.open(sys, SigSet.EMPTY))),
        new Operation("SignalFd.update", "signalfd", "signalfd", 2, THROWS, updateSignals()),
        row(
            "SignalFd.read",
            "read",
            "read",
            RETURNS,
            sys -> {
              try (SignalFd signals = SignalFd.open(sys, SigSet.EMPTY)) {
                return signals.read(new SignalRecords(Arena.ofAuto(), 1));
              }
            }),
        row(
            "SignalMask.block",
            "pthreadSigmask",
            "pthread_sigmask",
            THROWS,
            sys -> SignalMask.block(sys, SigSet.EMPTY).bits()),
        row("PollSet.await", "ppoll", "ppoll", RETURNS, Bodies::poll));
  }

  private static Operation.Body updateSignals() {
    return sys -> {
      try (SignalFd signals = SignalFd.open(sys, SigSet.EMPTY)) {
        signals.update(SigSet.EMPTY);
        return 0;
      }
    };
  }
}
