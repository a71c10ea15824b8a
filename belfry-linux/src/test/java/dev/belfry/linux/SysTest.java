package dev.belfry.linux;

import static dev.belfry.linux.Errno.EBADF;
import static dev.belfry.linux.Errno.EFAULT;
import static dev.belfry.linux.Errno.EINVAL;
import static dev.belfry.linux.Errno.ENOENT;
import static dev.belfry.linux.Errno.EPERM;
import static dev.belfry.linux.Errno.ESRCH;
import static java.lang.foreign.MemorySegment.NULL;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every system call is linked to the right function, and answers. */
final class SysTest {
  private static final int BAD = -1;

  /** More than any of these calls writes. */
  private static final long ROOM = 2048;

  private static final int NO_PROCESS = Integer.MAX_VALUE;

  interface Attempt {
    long make(Sys sys, MemorySegment room);
  }

  /** A harmless call, and its possible answers. */
  record Call(String name, Attempt attempt, Set<Long> answers) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Call call(String name, long answer, Attempt attempt) {
    return new Call(name, attempt, Set.of(answer));
  }

  private static Call bad(String name, Attempt attempt) {
    return call(name, -EBADF, attempt);
  }

  static Stream<Call> calls() {
    return Stream.of(descriptors(), sockets(), events(), memory(), processes(), spawning())
        .flatMap(List::stream);
  }

  private static List<Call> descriptors() {
    return List.of(
        bad("close", (sys, _) -> sys.close(BAD)),
        call("openat", -ENOENT, (sys, room) -> sys.openat(-100, room, 0, 0)),
        call("openat2", -ENOENT, (sys, room) -> sys.openat2(-100, room, room, 24)),
        bad("fstat", (sys, room) -> sys.fstat(BAD, room)),
        bad("fcntl", (sys, _) -> sys.fcntl(BAD, 1, 0)),
        bad("fcntl", (sys, room) -> sys.fcntl(BAD, 37, room)),
        bad("flock", (sys, _) -> sys.flock(BAD, 1)),
        bad("ioctl", (sys, room) -> sys.ioctl(BAD, 0x5413, room)),
        bad("dup3", (sys, _) -> sys.dup3(BAD, 5, 0)),
        call("pipe2", -EINVAL, (sys, room) -> sys.pipe2(room, BAD)),
        call("poll", 0, (sys, room) -> sys.poll(room, 0, 0)),
        call("ppoll", 0, (sys, room) -> sys.ppoll(room, 0, room, NULL)),
        bad("read", (sys, room) -> sys.read(BAD, room, 1)),
        bad("write", (sys, room) -> sys.write(BAD, room, 1)),
        bad("readv", (sys, room) -> sys.readv(BAD, room, 1)),
        bad("writev", (sys, room) -> sys.writev(BAD, room, 1)),
        bad("pread", (sys, room) -> sys.pread(BAD, room, 1, 0)),
        bad("pwrite", (sys, room) -> sys.pwrite(BAD, room, 1, 0)));
  }

  private static List<Call> sockets() {
    return List.of(
        call("socket", -Errno.EAFNOSUPPORT, (sys, _) -> sys.socket(BAD, 1, 0)),
        call("socketpair", -Errno.EAFNOSUPPORT, (sys, room) -> sys.socketpair(BAD, 1, 0, room)),
        bad("bind", (sys, room) -> sys.bind(BAD, room, 16)),
        bad("listen", (sys, _) -> sys.listen(BAD, 1)),
        bad("accept4", (sys, _) -> sys.accept4(BAD, NULL, NULL, 0)),
        bad("connect", (sys, room) -> sys.connect(BAD, room, 16)),
        bad("shutdown", (sys, _) -> sys.shutdown(BAD, 0)),
        bad("getsockname", (sys, room) -> sys.getsockname(BAD, room, room)),
        bad("getpeername", (sys, room) -> sys.getpeername(BAD, room, room)),
        bad("getsockopt", (sys, room) -> sys.getsockopt(BAD, 1, 1, room, room)),
        bad("setsockopt", (sys, room) -> sys.setsockopt(BAD, 1, 1, room, 4)),
        bad("send", (sys, room) -> sys.send(BAD, room, 1, 0)),
        bad("recv", (sys, room) -> sys.recv(BAD, room, 1, 0)),
        bad("sendmsg", (sys, room) -> sys.sendmsg(BAD, room, 0)),
        bad("recvmsg", (sys, room) -> sys.recvmsg(BAD, room, 0)));
  }

  private static List<Call> events() {
    return List.of(
        call("epollCreate1", -EINVAL, (sys, _) -> sys.epollCreate1(BAD)),
        bad("epollCtl", (sys, room) -> sys.epollCtl(BAD, 1, 0, room)),
        bad("epollWait", (sys, room) -> sys.epollWait(BAD, room, 1, 0)),
        bad("epollPwait2", (sys, room) -> sys.epollPwait2(BAD, room, 1, NULL, NULL, 8)),
        call("eventfd", -EINVAL, (sys, _) -> sys.eventfd(0, BAD)),
        call("timerfdCreate", -EINVAL, (sys, _) -> sys.timerfdCreate(BAD, 0)),
        bad("timerfdSettime", (sys, room) -> sys.timerfdSettime(BAD, 0, room, NULL)),
        call("signalfd", -EINVAL, (sys, room) -> sys.signalfd(-1, room, BAD)),
        call("kill", -ESRCH, (sys, _) -> sys.kill(NO_PROCESS, 0)),
        call("sigqueue", -ESRCH, (sys, _) -> sys.sigqueue(NO_PROCESS, 0, 0)),
        call("pthreadSigmask", -EINVAL, (sys, room) -> sys.pthreadSigmask(99, room, NULL)),
        call("sigaction", -EINVAL, (sys, room) -> sys.sigaction(99, NULL, room)),
        call("clockGettime", -EINVAL, (sys, room) -> sys.clockGettime(99, room)));
  }

  private static List<Call> memory() {
    return List.of(
        call("futex", 0, (sys, room) -> sys.futex(room, 1, 1, NULL, NULL, 0)),
        call("futex", -1, (sys, room) -> sys.futex(room.asSlice(1), 1, 1)),
        call("futexWaitv", -EINVAL, (sys, room) -> sys.futexWaitv(room, 0, 0, NULL, 1)),
        call("pthreadMutexattrInit", 0, (sys, room) -> sys.pthreadMutexattrInit(room)),
        call(
            "pthreadMutexattrSetpshared",
            -EINVAL,
            (sys, room) -> sys.pthreadMutexattrSetpshared(room, 99)),
        call(
            "pthreadMutexattrSetrobust",
            -EINVAL,
            (sys, room) -> sys.pthreadMutexattrSetrobust(room, 99)),
        call("pthreadMutexattrDestroy", 0, (sys, room) -> sys.pthreadMutexattrDestroy(room)),
        call("setRobustList", -EINVAL, (sys, room) -> sys.setRobustList(room, 1)),
        // A mutex of zeros is an unlocked plain one.
        call("pthreadMutexInit", 0, (sys, room) -> sys.pthreadMutexInit(room, NULL)),
        call("pthreadMutexLock", 0, (sys, room) -> sys.pthreadMutexLock(room)),
        call("pthreadMutexTrylock", 0, (sys, room) -> sys.pthreadMutexTrylock(room)),
        call("pthreadMutexConsistent", -EINVAL, (sys, room) -> sys.pthreadMutexConsistent(room)),
        call(
            "pthreadMutexUnlock",
            0,
            (sys, room) -> sys.pthreadMutexLock(room) + sys.pthreadMutexUnlock(room)),
        call("memfdCreate", -EINVAL, (sys, room) -> sys.memfdCreate(room, BAD)),
        bad("mmap", (sys, _) -> sys.mmap(0, 0, 1, 1, BAD, 0)),
        call("munmap", -EINVAL, (sys, _) -> sys.munmap(1, 1)),
        bad("ftruncate", (sys, _) -> sys.ftruncate(BAD, 0)),
        bad("fallocate", (sys, _) -> sys.fallocate(BAD, 0, 0, 1)));
  }

  private static int thisThread() {
    try {
      Path self = Files.readSymbolicLink(Path.of("/proc/thread-self"));
      return Integer.parseInt(self.getFileName().toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Call> processes() {
    long parent = ProcessHandle.current().parent().orElseThrow().pid();
    // Where io_uring is disabled, the kernel says so before it checks anything else.
    Set<Long> uring = Set.of((long) -EINVAL, (long) -EPERM, (long) -Errno.ENOSYS);
    Set<Long> register = Set.of((long) -EBADF, (long) -EPERM, (long) -Errno.ENOSYS);
    return List.of(
        call("pidfdOpen", -EINVAL, (sys, _) -> sys.pidfdOpen(-1, 0)),
        bad("pidfdSendSignal", (sys, _) -> sys.pidfdSendSignal(BAD, 0, NULL, 0)),
        call("waitid", -EINVAL, (sys, room) -> sys.waitid(99, 0, room, 4)),
        call("execve", -EFAULT, (sys, _) -> sys.execve(NULL, NULL, NULL)),
        call("prctl", -EINVAL, (sys, _) -> sys.prctl(-1, 0, 0, 0, 0)),
        call("getppid", parent, (sys, _) -> sys.getppid()),
        call("gettid", 0, (sys, _) -> sys.gettid() - thisThread()),
        call("schedYield", 0, (sys, _) -> sys.schedYield()),
        call("schedSetaffinity", -ESRCH, (sys, room) -> sys.schedSetaffinity(NO_PROCESS, 8, room)),
        call("schedGetaffinity", -ESRCH, (sys, room) -> sys.schedGetaffinity(NO_PROCESS, 8, room)),
        call("getrlimit", -EINVAL, (sys, room) -> sys.getrlimit(99, room)),
        call("setrlimit", -EINVAL, (sys, room) -> sys.setrlimit(99, room)),
        new Call("ioUringSetup", (sys, room) -> sys.ioUringSetup(0, room), uring),
        new Call(
            "ioUringEnter", (sys, _) -> sys.ioUringEnter(1_000_000, 0, 0, 0, NULL, 0), register),
        new Call(
            "ioUringRegister", (sys, _) -> sys.ioUringRegister(1_000_000, 0, NULL, 0), register));
  }

  /** Attributes and actions start as zeros, and own no memory as long as they stay so. */
  private static List<Call> spawning() {
    return List.of(
        call(
            "posixSpawnp",
            -ENOENT,
            (sys, room) ->
                sys.posixSpawnp(room.asSlice(1024), room, NULL, NULL, room.asSlice(512), NULL)),
        call("posixSpawnFileActionsInit", 0, (sys, room) -> sys.posixSpawnFileActionsInit(room)),
        call(
            "posixSpawnFileActionsDestroy",
            0,
            (sys, room) -> sys.posixSpawnFileActionsDestroy(room)),
        bad(
            "posixSpawnFileActionsAdddup2",
            (sys, room) -> sys.posixSpawnFileActionsAdddup2(room, BAD, BAD)),
        bad(
            "posixSpawnFileActionsAddclosefrom",
            (sys, room) -> sys.posixSpawnFileActionsAddclosefrom(room, BAD)),
        call(
            "posixSpawnFileActionsAddchdir",
            0,
            (sys, room) ->
                sys.posixSpawnFileActionsInit(room)
                    + sys.posixSpawnFileActionsAddchdir(room, room.asSlice(1024))
                    + sys.posixSpawnFileActionsDestroy(room)),
        call("posixSpawnattrInit", 0, (sys, room) -> sys.posixSpawnattrInit(room)),
        call("posixSpawnattrDestroy", 0, (sys, room) -> sys.posixSpawnattrDestroy(room)),
        call(
            "posixSpawnattrSetflags",
            -EINVAL,
            (sys, room) -> sys.posixSpawnattrSetflags(room, (short) -1)),
        call(
            "posixSpawnattrSetsigmask",
            0,
            (sys, room) -> sys.posixSpawnattrSetsigmask(room, room.asSlice(1024))),
        call(
            "posixSpawnattrSetsigdefault",
            0,
            (sys, room) -> sys.posixSpawnattrSetsigdefault(room, room.asSlice(1024))),
        call("posixSpawnattrSetpgroup", 0, (sys, room) -> sys.posixSpawnattrSetpgroup(room, 0)));
  }

  @ParameterizedTest
  @MethodSource("calls")
  void theCallAnswersAsTheKernelDoes(Call call) {
    for (Sys sys : List.of(Sys.forAnyThread(), Sys.forOneThread())) {
      try (Arena arena = Arena.ofConfined()) {
        assertThat(call.attempt().make(sys, arena.allocate(ROOM, 8))).isIn(call.answers());
      }
    }
  }

  @Test
  void noCallIsForgottenHere() {
    Set<String> declared =
        Arrays.stream(Sys.class.getMethods())
            .filter(method -> Modifier.isAbstract(method.getModifiers()))
            .map(Method::getName)
            .collect(Collectors.toSet());
    Set<String> tried = calls().map(Call::name).collect(Collectors.toSet());
    assertThat(tried).isEqualTo(declared);
  }

  @Test
  void everyFunctionIsInTheCLibrary() {
    var missing = new HashSet<String>();
    for (Method method : Sys.class.getMethods()) {
      LibC libc = method.getAnnotation(LibC.class);
      if (libc != null && Linker.nativeLinker().defaultLookup().find(libc.value()).isEmpty()) {
        missing.add(libc.value());
      }
    }
    assertThat(missing).isEmpty();
  }

  /** Each thread has its own errno; a shared one would be mixed up. */
  @Test
  void threadsDoNotSeeEachOthersErrors() throws Exception {
    Sys sys = Sys.forAnyThread();
    OnThread<Long> rival =
        OnThread.call(() -> countWrong(() -> sys.openat(-100, NULL, 0, 0), EFAULT));
    assertThat(countWrong(() -> sys.close(BAD), EBADF)).isZero();
    assertThat(rival.result()).isZero();
  }

  private static long countWrong(IntSupplier call, int errno) {
    long wrong = 0;
    for (int i = 0; i < 50_000; i++) {
      if (call.getAsInt() != -errno) {
        wrong++;
      }
    }
    return wrong;
  }
}
