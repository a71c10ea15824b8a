package dev.belfry.testkit;

import static dev.belfry.testkit.Bodies.close;
import static dev.belfry.testkit.Bodies.nothing;
import static dev.belfry.testkit.Bodies.onFile;
import static dev.belfry.testkit.Bodies.withByte;
import static dev.belfry.testkit.Operation.Policy.RETURNS;
import static dev.belfry.testkit.Operation.Policy.RETURNS_ALL;
import static dev.belfry.testkit.Operation.Policy.THROWS;
import static dev.belfry.testkit.Operation.Policy.THROWS_ALL;
import static dev.belfry.testkit.Operation.row;

import dev.belfry.linux.Affinity;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Futex;
import dev.belfry.linux.MonotonicClock;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.Processes;
import dev.belfry.linux.ResourceLimit;
import dev.belfry.linux.RobustMutex;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The operations on memory and processes. */
final class ProcessOperations {
  private static final Sys REAL = Sys.forAnyThread();
  private static final int OWN_PID = (int) ProcessHandle.current().pid();

  private ProcessOperations() {}

  static Stream<Operation> all() {
    return Stream.of(memory(), processes(), spawn()).flatMap(rows -> rows);
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
        row("SharedFile.map", "mmap", "mmap", THROWS, onFile(Bodies::map)),
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
        row("FutexSet.await", "futexWaitv", "futex_waitv", RETURNS, Bodies::awaitAny),
        row("RobustHold.tryTake", "setRobustList", "set_robust_list", THROWS, Bodies::hold),
        mutex("pthreadMutexattrInit", "pthread_mutexattr_init", THROWS),
        mutex("pthreadMutexattrSetpshared", "pthread_mutexattr_setpshared", THROWS),
        mutex("pthreadMutexattrSetrobust", "pthread_mutexattr_setrobust", THROWS),
        mutex("pthreadMutexInit", "pthread_mutex_init", THROWS),
        mutex("pthreadMutexLock", "pthread_mutex_lock", THROWS_ALL),
        mutex("pthreadMutexTrylock", "pthread_mutex_trylock", THROWS_ALL));
  }

  /** A mutex's whole life, in which one call fails. */
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

  /** Kills and reaps a long-lived child; by other means if that fails. */
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
}
