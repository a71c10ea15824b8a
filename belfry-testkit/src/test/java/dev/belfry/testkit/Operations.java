package dev.belfry.testkit;

import static dev.belfry.testkit.Operation.Policy.LOCKS;
import static dev.belfry.testkit.Operation.Policy.RETURNS;
import static dev.belfry.testkit.Operation.Policy.RETURNS_ALL;
import static dev.belfry.testkit.Operation.Policy.THROWS;
import static dev.belfry.testkit.Operation.Policy.THROWS_ALL;

import dev.belfry.linux.Affinity;
import dev.belfry.linux.Epoll;
import dev.belfry.linux.EpollEvents;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.EventFd;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.FileLocks;
import dev.belfry.linux.FileStatus;
import dev.belfry.linux.Futex;
import dev.belfry.linux.FutexSet;
import dev.belfry.linux.Io;
import dev.belfry.linux.Iovecs;
import dev.belfry.linux.Message;
import dev.belfry.linux.MonotonicClock;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.Processes;
import dev.belfry.linux.ResourceLimit;
import dev.belfry.linux.RobustMutex;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalFd;
import dev.belfry.linux.SignalMask;
import dev.belfry.linux.SignalRecords;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.linux.Terminal;
import dev.belfry.linux.TimerFd;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.file.Path;
import java.util.stream.Stream;

/** One row for each facility and each system call that can fail under it. */
final class Operations {
  private static final Sys REAL = Sys.forAnyThread();
  private static final FileLocks.Range BYTES = new FileLocks.Range(0, 1);
  private static final int OWN_PID = (int) ProcessHandle.current().pid();
  private static final InetSocketAddress LOCAL =
      new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);

  private Operations() {}

  static Stream<Operation> all() {
    return Stream.of(files(), io(), sockets(), events(), memory(), processes(), spawn())
        .flatMap(rows -> rows);
  }

  private static Operation row(
      String what, String call, String symbol, Operation.Policy policy, Operation.Body body) {
    return new Operation(what, call, symbol, 1, policy, body);
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
        row("Message.send", "sendmsg", "sendmsg", RETURNS, onPair(Operations::sendMessage)),
        row("Message.receive", "recvmsg", "recvmsg", RETURNS, onPair(Operations::receiveMessage)));
  }

  private static Stream<Operation> events() {
    return Stream.of(
        row(
            "Epoll.create",
            "epollCreate1",
            "epoll_create1",
            THROWS,
            sys -> close(Epoll.create(sys))),
        row("Epoll.add", "epollCtl", "epoll_ctl", RETURNS_ALL, onEpoll(Operations::watch)),
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
        row("PollSet.await", "ppoll", "ppoll", RETURNS, Operations::poll));
  }

  private static Operation.Body updateSignals() {
    return sys -> {
      try (SignalFd signals = SignalFd.open(sys, SigSet.EMPTY)) {
        signals.update(SigSet.EMPTY);
        return 0;
      }
    };
  }

  private static Stream<Operation> memory() {
    return Stream.of(
        row(
            "SharedFile.createAnonymous",
            "memfdCreate",
            "memfd_create",
            THROWS,
            sys -> close(SharedFile.createAnonymous(sys, "fault"))),
        row(
            "SharedFile.truncate",
            "ftruncate",
            "ftruncate",
            THROWS,
            onFile((sys, fd) -> nothing(() -> SharedFile.truncate(sys, fd, 1)))),
        row(
            "SharedFile.allocate",
            "fallocate",
            "fallocate",
            THROWS,
            onFile((sys, fd) -> nothing(() -> SharedFile.allocate(sys, fd, 1)))),
        row(
            "SharedFile.seal",
            "fcntl",
            "fcntl",
            THROWS,
            onFile((sys, fd) -> nothing(() -> SharedFile.seal(sys, fd, 1)))),
        row(
            "SharedFile.seals",
            "fcntl",
            "fcntl",
            THROWS,
            onFile((sys, fd) -> SharedFile.seals(sys, fd))),
        row("SharedFile.map", "mmap", "mmap", THROWS, onFile(Operations::map)),
        row(
            "Futex.await",
            "futex",
            "futex",
            RETURNS,
            sys -> withByte(b -> new Futex(sys).await(b, 1, Futex.FOREVER))),
        row(
            "Futex.wake",
            "futex",
            "futex",
            RETURNS_ALL,
            sys -> withByte(b -> Futex.wake(sys, b, 1))),
        row("FutexSet.await", "futexWaitv", "futex_waitv", RETURNS, Operations::awaitAny),
        mutex("pthreadMutexattrInit", "pthread_mutexattr_init", THROWS),
        mutex("pthreadMutexattrSetpshared", "pthread_mutexattr_setpshared", THROWS),
        mutex("pthreadMutexattrSetrobust", "pthread_mutexattr_setrobust", THROWS),
        mutex("pthreadMutexInit", "pthread_mutex_init", THROWS),
        mutex("pthreadMutexLock", "pthread_mutex_lock", THROWS_ALL),
        mutex("pthreadMutexTrylock", "pthread_mutex_trylock", THROWS_ALL));
  }

  /** Everything there is to do with a mutex, of which one call fails. */
  private static Operation mutex(String call, String symbol, Operation.Policy policy) {
    return row(
        "RobustMutex by " + symbol,
        call,
        symbol,
        policy,
        sys -> {
          try (Arena arena = Arena.ofConfined()) {
            var mutex = new RobustMutex(sys, arena.allocate(RobustMutex.bytes(), 8));
            mutex.initialise();
            mutex.lock();
            mutex.unlock();
            mutex.tryLock();
            mutex.unlock();
            return 0;
          }
        });
  }

  private static Stream<Operation> processes() {
    return Stream.of(
        row(
            "PidFd.open",
            "pidfdOpen",
            "pidfd_open",
            THROWS,
            sys -> close(PidFd.open(sys, OWN_PID))),
        row("PidFd.sendSignal", "pidfdSendSignal", "pidfd_send_signal", THROWS, signalChild()),
        row("PidFd.awaitExit", "waitid", "waitid", THROWS, signalChild()),
        row(
            "Processes.kill",
            "kill",
            "kill",
            THROWS,
            sys -> nothing(() -> Processes.kill(sys, OWN_PID, 0))),
        row(
            "Processes.queue",
            "sigqueue",
            "sigqueue",
            THROWS,
            sys -> nothing(() -> Processes.queue(sys, OWN_PID, 0, 0))),
        row(
            "Processes.setTimerSlack",
            "prctl",
            "prctl",
            THROWS,
            sys -> nothing(() -> Processes.setTimerSlack(sys, 50_000))),
        row(
            "Processes.setParentDeathSignal",
            "prctl",
            "prctl",
            THROWS,
            sys -> nothing(() -> Processes.setParentDeathSignal(sys, 0))),
        row(
            "Affinity.get",
            "schedGetaffinity",
            "sched_getaffinity",
            THROWS,
            sys -> Affinity.get(sys, 0).cardinality()),
        row(
            "Affinity.set",
            "schedSetaffinity",
            "sched_setaffinity",
            THROWS,
            sys -> nothing(() -> Affinity.set(sys, 0, Affinity.get(REAL, 0)))),
        row(
            "ResourceLimit.get",
            "getrlimit",
            "getrlimit",
            THROWS,
            sys -> ResourceLimit.CORE.get(sys).soft()),
        row(
            "ResourceLimit.set",
            "setrlimit",
            "setrlimit",
            THROWS,
            sys -> nothing(() -> ResourceLimit.CORE.set(sys, ResourceLimit.CORE.get(REAL)))),
        row(
            "MonotonicClock.nanos",
            "clockGettime",
            "clock_gettime",
            THROWS,
            sys -> MonotonicClock.nanos(sys) > 0 ? 1 : 0));
  }

  /** A child that would live long is killed and reaped; if that fails, by other means. */
  private static Operation.Body signalChild() {
    return sys -> {
      PidFd real = Spawn.command("sleep", "1000").start(REAL);
      try (real;
          PidFd child = PidFd.open(sys, real.pid())) {
        try {
          child.sendSignal(9);
          return child.awaitExit().shellCode();
        } catch (ErrnoException e) {
          if (e.call().equals("pidfd_send_signal")) {
            real.sendSignal(9);
          }
          real.awaitExit();
          throw e;
        }
      }
    };
  }

  private static Stream<Operation> spawn() {
    return Stream.of(
        spawn("fcntl", "fcntl", 1),
        spawn("fcntl", "fcntl", 4),
        spawn("posixSpawnFileActionsInit", "posix_spawn_file_actions_init", 1),
        spawn("posixSpawnattrInit", "posix_spawnattr_init", 1),
        spawn("posixSpawnFileActionsAdddup2", "posix_spawn_file_actions_adddup2", 1),
        spawn("posixSpawnFileActionsAdddup2", "posix_spawn_file_actions_adddup2", 4),
        spawn("posixSpawnFileActionsAddclosefrom", "posix_spawn_file_actions_addclosefrom_np", 1),
        spawn("posixSpawnFileActionsAddchdir", "posix_spawn_file_actions_addchdir_np", 1),
        spawn("posixSpawnattrSetsigmask", "posix_spawnattr_setsigmask", 1),
        spawn("posixSpawnattrSetsigdefault", "posix_spawnattr_setsigdefault", 1),
        spawn("posixSpawnattrSetflags", "posix_spawnattr_setflags", 1),
        spawn("posixSpawnp", "posix_spawnp", 1),
        spawn("pidfdOpen", "pidfd_open", 1));
  }

  private static Operation spawn(String call, String symbol, int which) {
    return new Operation(
        "Spawn.start by " + symbol,
        call,
        symbol,
        which,
        THROWS,
        sys -> {
          Spawn spawn = Spawn.command("true").pass(0).directory(Path.of("/")).ownProcessGroup();
          try (PidFd child = spawn.start(sys)) {
            return child.awaitExit().shellCode();
          }
        });
  }

  // What the rows are made of.

  private interface OnFd {
    long run(Sys sys, int fd) throws Exception;
  }

  private interface OnBytes {
    long run(Sys sys, int fd, MemorySegment bytes) throws Exception;
  }

  private interface WithBytes {
    long run(MemorySegment bytes) throws Exception;
  }

  private interface OnEpoll {
    long run(Epoll epoll, int watched) throws Exception;
  }

  private interface OnEvent {
    long run(EventFd event);
  }

  private interface OnTimer {
    long run(TimerFd timer);
  }

  private interface Action {
    void run() throws Exception;
  }

  private static Fd openNull(Sys sys) throws Exception {
    return OpenFile.open(sys, Path.of("/dev/null"), OpenFlags.READ_WRITE, 0);
  }

  private static Fd tcp(Sys sys) throws Exception {
    return Sockets.open(sys, StandardProtocolFamily.INET, Sockets.Type.STREAM, false);
  }

  private static Operation.Body onNull(OnFd body) {
    return sys -> {
      try (Fd fd = openNull(REAL)) {
        return body.run(sys, fd.number());
      }
    };
  }

  private static Operation.Body onFile(OnFd body) {
    return sys -> {
      try (Fd fd = SharedFile.createAnonymous(REAL, "fault")) {
        SharedFile.truncate(REAL, fd.number(), 4096);
        return body.run(sys, fd.number());
      }
    };
  }

  private static Operation.Body onBytes(OnBytes body) {
    return onFile((sys, fd) -> withByte(bytes -> body.run(sys, fd, bytes)));
  }

  private static Operation.Body onTcp(OnFd body) {
    return sys -> {
      try (Fd fd = tcp(REAL)) {
        return body.run(sys, fd.number());
      }
    };
  }

  private static Operation.Body onPair(OnFd body) {
    return sys -> {
      Sockets.Pair pair = Sockets.pair(REAL, Sockets.Type.STREAM, false);
      try (Fd first = pair.first();
          Fd second = pair.second()) {
        withByte(bytes -> Sockets.send(REAL, second.number(), bytes));
        return body.run(sys, first.number());
      }
    };
  }

  private static Operation.Body onEpoll(OnEpoll body) {
    return sys -> {
      try (Epoll epoll = Epoll.create(sys);
          EventFd watched = EventFd.create(REAL)) {
        return body.run(epoll, watched.number());
      }
    };
  }

  private static Operation.Body onEvent(OnEvent body) {
    return sys -> {
      try (EventFd event = EventFd.create(sys)) {
        return body.run(event);
      }
    };
  }

  private static Operation.Body onTimer(OnTimer body) {
    return sys -> {
      try (TimerFd timer = TimerFd.create(sys)) {
        return body.run(timer);
      }
    };
  }

  private static long withByte(WithBytes body) throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      return body.run(arena.allocate(4, 4));
    }
  }

  private static Iovecs pieces(MemorySegment bytes) {
    var pieces = new Iovecs(Arena.ofAuto(), 1);
    pieces.add(bytes);
    return pieces;
  }

  private static long watch(Epoll epoll, int watched) {
    return epoll.add(watched, Epoll.IN, 1);
  }

  private static long poll(Sys sys) throws Exception {
    try (EventFd ready = EventFd.create(REAL)) {
      ready.signal();
      var set = new PollSet(sys, 1);
      set.set(0, ready.number(), PollSet.IN);
      return set.await(Futex.FOREVER);
    }
  }

  private static long awaitAny(Sys sys) throws Exception {
    return withByte(
        word -> {
          var set = new FutexSet(sys, 1);
          set.set(0, word, 1);
          return set.await(1, Futex.FOREVER);
        });
  }

  private static long map(Sys sys, int fd) throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      return SharedFile.map(sys, fd, 4096, true, arena).byteSize();
    }
  }

  private static long sendMessage(Sys sys, int fd) throws Exception {
    return withByte(
        bytes -> {
          var message = new Message(Arena.ofAuto(), 1, 1);
          message.data().add(bytes);
          message.addDescriptor(fd);
          return message.send(sys, fd);
        });
  }

  private static long receiveMessage(Sys sys, int fd) throws Exception {
    return withByte(
        bytes -> {
          var message = new Message(Arena.ofAuto(), 1, 1);
          message.data().add(bytes);
          return message.receive(sys, fd);
        });
  }

  private static long status(Sys sys, int fd) throws Exception {
    return FileStatus.of(sys, fd).mode();
  }

  private static long nothing(Action action) throws Exception {
    action.run();
    return 0;
  }

  private static long close(AutoCloseable opened) throws Exception {
    opened.close();
    return 0;
  }

  private static long close(Pipe pipe) {
    pipe.reader().close();
    pipe.writer().close();
    return 0;
  }

  private static long close(Sockets.Pair pair) {
    pair.first().close();
    pair.second().close();
    return 0;
  }
}
