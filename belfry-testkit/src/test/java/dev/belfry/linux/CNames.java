package dev.belfry.linux;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The C names of this package's constants. A constant that is named as in the headers needs no
 * entry.
 */
final class CNames {
  /** Constants whose names are our own, as {@code Class.FIELD}. */
  private static final Map<String, String> RENAMED =
      Map.ofEntries(
          Map.entry("Epoll.SIGSET_SIZE", "_NSIG / 8"),
          Map.entry("FileStatus.TYPE_MASK", "S_IFMT"),
          Map.entry("FileStatus.SOCKET", "S_IFSOCK"),
          Map.entry("FileStatus.REGULAR", "S_IFREG"),
          Map.entry("FileStatus.DIRECTORY", "S_IFDIR"),
          Map.entry("FileStatus.PERMISSION_MASK", "ALLPERMS"),
          Map.entry("Futex.MATCH_ANY", "FUTEX_BITSET_MATCH_ANY"),
          Map.entry("FutexSet.MAX_WORDS", "FUTEX_WAITV_MAX"),
          Map.entry("Iovecs.MAX", "IOV_MAX"),
          Map.entry("Iovecs.IOVEC_BYTES", "sizeof(struct iovec)"),
          Map.entry("Iovecs.BASE", "offsetof(struct iovec, iov_base)"),
          Map.entry("Iovecs.LENGTH", "offsetof(struct iovec, iov_len)"),
          Map.entry("OpenFile.WORKING_DIRECTORY", "AT_FDCWD"),
          Map.entry("OpenFlags.READ_ONLY", "O_RDONLY"),
          Map.entry("OpenFlags.WRITE_ONLY", "O_WRONLY"),
          Map.entry("OpenFlags.READ_WRITE", "O_RDWR"),
          Map.entry("OpenFlags.CREATE", "O_CREAT"),
          Map.entry("OpenFlags.EXCLUSIVE", "O_EXCL"),
          Map.entry("OpenFlags.NO_CONTROLLING_TERMINAL", "O_NOCTTY"),
          Map.entry("OpenFlags.TRUNCATE", "O_TRUNC"),
          Map.entry("OpenFlags.APPEND", "O_APPEND"),
          Map.entry("OpenFlags.NON_BLOCKING", "O_NONBLOCK"),
          Map.entry("OpenFlags.CLOSE_ON_EXEC", "O_CLOEXEC"),
          Map.entry("ResourceLimit.UNLIMITED", "RLIM_INFINITY"),
          Map.entry("RobustMutex.OWNER_DIED", "FUTEX_OWNER_DIED"),
          Map.entry("RobustMutex.WAITERS", "FUTEX_WAITERS"),
          Map.entry("RobustMutex.OWNER_MASK", "FUTEX_TID_MASK"),
          Map.entry("SigSet.SIGSET_BYTES", "sizeof(sigset_t)"),
          Map.entry("SocketAddresses.IN_BYTES", "sizeof(struct sockaddr_in)"),
          Map.entry("SocketAddresses.IN6_BYTES", "sizeof(struct sockaddr_in6)"),
          Map.entry("SocketAddresses.PORT", "offsetof(struct sockaddr_in, sin_port)"),
          Map.entry("SocketAddresses.IN_ADDRESS", "offsetof(struct sockaddr_in, sin_addr)"),
          Map.entry("SocketAddresses.IN6_ADDRESS", "offsetof(struct sockaddr_in6, sin6_addr)"),
          Map.entry("SocketAddresses.IN6_SCOPE", "offsetof(struct sockaddr_in6, sin6_scope_id)"),
          Map.entry("SocketAddresses.UN_PATH", "offsetof(struct sockaddr_un, sun_path)"),
          Map.entry("SocketAddresses.UN_PATH_BYTES", "sizeof(((struct sockaddr_un *)0)->sun_path)"),
          Map.entry("Terminal.LFLAG", "offsetof(struct termios, c_lflag)"),
          Map.entry("Terminal.CC", "offsetof(struct termios, c_cc)"),
          Map.entry("Timespec.BYTES", "sizeof(struct timespec)"),
          Map.entry("Timespec.SECONDS", "offsetof(struct timespec, tv_sec)"),
          Map.entry("Timespec.NANOS", "offsetof(struct timespec, tv_nsec)"));

  /** The prefix of a class's names in the headers. */
  private static final Map<String, String> PREFIX = Map.of("Signo", "SIG");

  /** Constants that are in no header: our own limits and buffer sizes, covered by other tests. */
  private static final Set<String> OURS =
      Set.of(
          "Affinity.THIS_THREAD",
          "Affinity.MASK_BYTES",
          "Epoll.FOREVER",
          "Fd.FRAMES_KEPT",
          "Futex.FOREVER",
          "Message.MAX_DESCRIPTORS", // SCM_MAX_FD is not in the user-space headers
          "RobustMutex.ATTRIBUTE_BYTES",
          "SignalActions.SIGACTION_BYTES",
          "SignalLaunch.SUSPEND_SIGNAL",
          "SocketAddresses.MAX_BYTES",
          "Sockets.ACCEPT_FLAGS",
          "Spawn.OPAQUE_BYTES",
          "Spawn.FIRST_PASSED",
          "Timespec.NANOS_PER_SECOND");

  /** Classes whose constants are in no header, mostly because they are computed from a layout. */
  private static final Map<String, String> COMPUTED =
      Map.ofEntries(
          Map.entry("EpollEvents", "EVENT_BYTES|EVENTS|DATA"),
          Map.entry("IoUringProbe", ".*"), // many systems' headers are older than what is probed
          Map.entry("IoUring", "FOREVER|REQUIRED|ANY_PLACE|IORING_SETUP_NO_SQARRAY"),
          Map.entry(
              "SubmissionQueue",
              "AT_POSITION|NO_FD|SQE_BYTES|USER_DATA|IORING_OP_FUTEX_WAIT|FUTEX2_SIZE_U32"
                  + "|FUTEX_MATCH_ANY"),
          Map.entry("CompletionQueue", "USER_DATA|RES|FLAGS|CQE_BYTES"),
          Map.entry("UringStructs", ".*"),
          Map.entry("BufferRing", "PAGE|ADDR|LEN|BID|TAIL|BUF_BYTES|RING_ADDR|ENTRIES|BGID"),
          Map.entry("FutexSet", "WAITER_BYTES|VAL|UADDR|FLAGS"),
          Map.entry(
              "Message",
              "NAME|NAME_LENGTH|IOV|IOV_LENGTH|CONTROL|CONTROL_LENGTH|FLAGS|CMSG_.*|.*_FLAGS"),
          Map.entry("PollSet", "SHORT_MILLIS|POLLFD_BYTES|FD|EVENTS|REVENTS"),
          Map.entry("SignalRecords", ".*"));

  private CNames() {}

  /** The constant as a C expression, or empty if C has none. */
  static Optional<String> of(Field constant) {
    String type = constant.getDeclaringClass().getSimpleName();
    String name = constant.getName();
    String full = type + "." + name;
    if (OURS.contains(full) || name.matches(COMPUTED.getOrDefault(type, ""))) {
      return Optional.empty();
    }
    String prefix = PREFIX.getOrDefault(type, "");
    if (type.equals("Epoll") && !name.startsWith("EPOLL")) {
      prefix = "EPOLL";
    } else if (type.equals("PollSet")) {
      prefix = "POLL";
    } else if (name.startsWith("SEAL_")) {
      prefix = "F_";
    }
    return Optional.of(RENAMED.getOrDefault(full, prefix + name));
  }
}
