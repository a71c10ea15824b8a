package dev.belfry.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what this kernel and C library offer by trying it. Versions say little, because a
 * container's seccomp filter may refuse what the kernel has. A probe leaves nothing open, changes
 * nothing and never throws: a missing facility is a result like any other.
 */
public final class Facilities {
  private static final Path IO_URING_SYSCTL = Path.of("/proc/sys/kernel/io_uring_disabled");

  private final Sys sys;
  private final List<Facility> found = new ArrayList<>();

  private Facilities(Sys sys) {
    this.sys = sys;
  }

  /**
   * One facility of the machine.
   *
   * @param name its name, as in the manual, in lower case; never changes
   * @param cause why it is missing, with the symbol of the error; null if it is available
   */
  public record Facility(String name, @Nullable String cause) {
    /** Whether the machine has it. */
    public boolean available() {
      return cause == null;
    }
  }

  /** Probes everything; always returns the same names in the same order. */
  public static List<Facility> probe(Sys sys) {
    var facilities = new Facilities(sys);
    facilities.probeAll();
    return List.copyOf(facilities.found);
  }

  private void probeAll() {
    probe("epoll", () -> Epoll.create(sys).close());
    probe("eventfd", () -> EventFd.create(sys).close());
    probe("timerfd", () -> TimerFd.create(sys).close());
    probe("signalfd", () -> SignalFd.open(sys, SigSet.EMPTY).close());
    probe("futex", this::futex);
    probe("robust_mutex", this::robustMutex);
    probe("memfd_seals", this::memfdSeals);
    probe("pidfd", this::pidfd);
    probe("posix_spawn_closefrom", this::spawnClosefrom);
    probe("epoll_pwait2", this::epollPwait2);
    probe("futex_waitv", () -> expect(Errno.EAGAIN, "futex_waitv", FutexSet.probe(sys)));
    probe("openat2", this::openat2);
    var ring = new IoUringProbe(sys);
    probe("io_uring", () -> ring.setUp(IoUringProbe.SUBMIT_ALL));
    probe("io_uring_single_issuer", () -> ring.setUp(IoUringProbe.SINGLE_ISSUER));
    probe(
        "io_uring_defer_taskrun",
        () -> ring.setUp(IoUringProbe.SINGLE_ISSUER | IoUringProbe.DEFER_TASKRUN));
    probe("io_uring_no_sqarray", () -> ring.setUp(IoUringProbe.NO_SQARRAY));
    probe("io_uring_multishot_accept", () -> ring.operation(IoUringProbe.OP_SOCKET));
    probe("io_uring_multishot_recv", () -> ring.operation(IoUringProbe.OP_SEND_ZC));
    probe("io_uring_buffer_ring", ring::bufferRing);
    probe("io_uring_futex_wait", () -> ring.operation(IoUringProbe.OP_FUTEX_WAIT));
  }

  /** Waits while a word of 0 is 1, which fails at once if the kernel knows the call. */
  private void futex() throws ErrnoException {
    MemorySegment word = Arena.ofAuto().allocate(ValueLayout.JAVA_INT);
    expect(Errno.EAGAIN, "futex", new Futex(sys).await(word, 1, 0));
  }

  private void robustMutex() throws ErrnoException {
    var mutex = new RobustMutex(sys, Arena.ofAuto().allocate(RobustMutex.bytes(), Long.BYTES));
    mutex.initialise();
    mutex.lock();
    mutex.unlock();
  }

  /** A seal must have an effect: the sealed file must refuse to shrink. */
  private void memfdSeals() throws ErrnoException {
    try (Fd file = SharedFile.createAnonymous(sys, "belfry-probe")) {
      SharedFile.truncate(sys, file.number(), 1);
      SharedFile.seal(sys, file.number(), SharedFile.SEAL_SHRINK);
      if (sys.ftruncate(file.number(), 0) != -Errno.EPERM) {
        throw new ErrnoException("fcntl", Errno.EINVAL, "F_ADD_SEALS has no effect");
      }
    }
  }

  /** Opens this process, sends it signal 0 and waits for it, though it is not its own child. */
  private void pidfd() throws ErrnoException {
    try (PidFd self = PidFd.open(sys, (int) ProcessHandle.current().pid())) {
      self.sendSignal(0);
      try {
        self.reap();
      } catch (ErrnoException e) {
        expect(Errno.ECHILD, e.call(), -e.errno());
      }
    }
  }

  private void spawnClosefrom() throws ErrnoException {
    MemorySegment actions = Arena.ofAuto().allocate(Spawn.OPAQUE_BYTES, Long.BYTES);
    Calls.call("posix_spawn", "init", () -> sys.posixSpawnFileActionsInit(actions));
    try {
      Calls.call(
          "posix_spawn", "closefrom", () -> sys.posixSpawnFileActionsAddclosefrom(actions, 3));
    } finally {
      sys.posixSpawnFileActionsDestroy(actions);
    }
  }

  private void epollPwait2() throws ErrnoException {
    try (Epoll epoll = Epoll.create(sys)) {
      var batch = new EpollEvents(Arena.ofAuto(), 1);
      Calls.call("epoll_pwait2", "probe", () -> epoll.await(batch, 0));
    }
  }

  private void openat2() throws ErrnoException {
    int flags = OpenFlags.READ_ONLY | OpenFlags.directory();
    OpenFile.openAt(sys, OpenFile.WORKING_DIRECTORY, Path.of("/"), flags, 0, 0).close();
  }

  // Common parts of the probes.

  private interface Attempt {
    void make() throws ErrnoException;
  }

  private void probe(String name, Attempt attempt) {
    String cause = null;
    try {
      attempt.make();
    } catch (ErrnoException e) {
      cause = Errno.name(e.errno()) + ": " + explanation(name, e.errno());
    } catch (NoSuchElementException | LinkageError missing) {
      cause = "the C library does not have it: use a newer one";
    }
    found.add(new Facility(name, cause));
  }

  /** For probes where a particular error shows that the kernel knows the call. */
  private static void expect(int errno, String call, int result) throws ErrnoException {
    if (result < 0 && result != -errno) {
      throw new ErrnoException(call, -result, "probe");
    }
  }

  static String explanation(String name, int errno) {
    boolean uring = name.startsWith("io_uring");
    return switch (errno) {
      case Errno.ENOSYS -> "the kernel is too old, or a seccomp filter hides the call";
      case Errno.EPERM, Errno.EACCES ->
          "refused by " + (uring ? whoRefusesIoUring() : "a seccomp filter or a security module");
      case Errno.EMFILE -> "too many open files: raise the limit (ulimit -n)";
      case Errno.ENOMEM -> "not enough memory" + (uring ? ": raise the limit (ulimit -l)" : "");
      case Errno.EINVAL, Errno.EOPNOTSUPP -> "the kernel is too old for it";
      default -> LibCTexts.error(errno);
    };
  }

  private static String whoRefusesIoUring() {
    try {
      String disabled = Files.readString(IO_URING_SYSCTL).strip();
      if (!disabled.equals("0")) {
        return "sysctl kernel.io_uring_disabled=" + disabled + "; 0 allows it";
      }
    } catch (IOException none) {
      // Older kernels have no such switch.
    }
    return "a seccomp filter, as in most containers (kernel.io_uring_disabled is not set)";
  }

  /** The C library and its version, such as {@code glibc 2.36}. */
  public static String libc() {
    return LibCTexts.libcVersion().map(version -> "glibc " + version).orElse("not glibc");
  }
}
