package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;
import static dev.belfry.linux.Errno.EINPROGRESS;
import static dev.belfry.linux.Errno.EINTR;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;

/**
 * Sockets: TCP, UDP and Unix ({@code socket(7)}). Sockets opened here are close-on-exec, and
 * non-blocking unless requested otherwise. {@link #accept}, {@link #connect}, {@link #send} and
 * {@link #receive} are for hot paths: they allocate nothing and return {@code -errno}.
 */
public final class Sockets {
  public static final int SOL_SOCKET = 1;
  public static final int SO_REUSEADDR = 2;
  public static final int SO_TYPE = 3;
  public static final int SO_ERROR = 4;
  public static final int SO_BROADCAST = 6;
  public static final int SO_SNDBUF = 7;
  public static final int SO_RCVBUF = 8;
  public static final int SO_KEEPALIVE = 9;
  public static final int SO_LINGER = 13;
  public static final int SO_REUSEPORT = 15;
  public static final int SO_DOMAIN = 39;
  public static final int IPPROTO_TCP = 6;
  public static final int TCP_NODELAY = 1;
  public static final int IPPROTO_IPV6 = 41;
  public static final int IPV6_V6ONLY = 26;

  /** Shuts down reading. */
  public static final int SHUT_RD = 0;

  /** Shuts down writing: the peer reads to the end of what was sent. */
  public static final int SHUT_WR = 1;

  /** Shuts down both. */
  public static final int SHUT_RDWR = 2;

  static final int MSG_DONTWAIT = 0x40;
  static final int MSG_NOSIGNAL = 0x4000;

  private static final int SOCK_NONBLOCK = 0x800;
  private static final int SOCK_CLOEXEC = 0x80000;

  static final int ACCEPT_FLAGS = SOCK_NONBLOCK | SOCK_CLOEXEC;

  private Sockets() {}

  /** The type of a socket. */
  public enum Type {
    /** A stream of bytes, connected. */
    STREAM(1),
    /** Messages, which may be lost. */
    DATAGRAM(2),
    /** Messages in order, connected; Unix sockets only. */
    SEQUENCED_PACKETS(5);

    private final int number;

    Type(int number) {
      this.number = number;
    }

    /** The number that {@link #SO_TYPE} reports. */
    public int number() {
      return number;
    }
  }

  /** The two ends of a connected pair; each is closed separately. */
  public record Pair(Fd first, Fd second) {}

  /** Opens a socket. */
  public static Fd open(Sys sys, StandardProtocolFamily family, Type type, boolean blocking)
      throws ErrnoException {
    int domain =
        switch (family) {
          case INET -> SocketAddresses.AF_INET;
          case INET6 -> SocketAddresses.AF_INET6;
          case UNIX -> SocketAddresses.AF_UNIX;
        };
    String what = family + " " + type + " socket";
    int number = call("socket", what, () -> sys.socket(domain, flags(type, blocking), 0));
    return Fd.own(sys, number, what);
  }

  /** The protocol family of sockets for an address. */
  public static StandardProtocolFamily familyOf(SocketAddress address) {
    return switch (SocketAddresses.family(address)) {
      case SocketAddresses.AF_INET -> StandardProtocolFamily.INET;
      case SocketAddresses.AF_INET6 -> StandardProtocolFamily.INET6;
      default -> StandardProtocolFamily.UNIX;
    };
  }

  /** Opens two Unix sockets connected to each other. */
  public static Pair pair(Sys sys, Type type, boolean blocking) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment fds = arena.allocate(ValueLayout.JAVA_INT, 2);
      call(
          "socketpair",
          type,
          () -> sys.socketpair(SocketAddresses.AF_UNIX, flags(type, blocking), 0, fds));
      return new Pair(
          Fd.own(sys, fds.getAtIndex(ValueLayout.JAVA_INT, 0), "socket pair"),
          Fd.own(sys, fds.getAtIndex(ValueLayout.JAVA_INT, 1), "socket pair"));
    }
  }

  private static int flags(Type type, boolean blocking) {
    return type.number | SOCK_CLOEXEC | (blocking ? 0 : SOCK_NONBLOCK);
  }

  /** Binds a socket to an address. */
  public static void bind(Sys sys, int fd, SocketAddress address) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment encoded = SocketAddresses.encode(arena, address);
      call("bind", address, () -> sys.bind(fd, encoded, (int) encoded.byteSize()));
    }
  }

  /** Listens for connections; up to {@code backlog} of them may wait to be accepted. */
  public static void listen(Sys sys, int fd, int backlog) throws ErrnoException {
    call("listen", "backlog " + backlog, () -> sys.listen(fd, backlog));
  }

  /** Accepts a connection: a non-blocking descriptor, or {@code -errno}. */
  public static int accept(Sys sys, int fd) {
    int result;
    do {
      result = sys.accept4(fd, MemorySegment.NULL, MemorySegment.NULL, ACCEPT_FLAGS);
    } while (result == -EINTR);
    return result;
  }

  /** Encodes an address for {@link #connect}, to be reused. */
  public static MemorySegment encode(Arena arena, SocketAddress address) {
    return SocketAddresses.encode(arena, address);
  }

  /**
   * Encodes the abstract address of a Unix socket ({@code unix(7)}), a name without a file, for
   * {@link #connect}. Java has no class for such addresses.
   *
   * @param name without the leading zero byte, which is often written as {@code @}
   */
  public static MemorySegment encodeAbstract(Arena arena, String name) {
    return SocketAddresses.encodeAbstract(arena, name);
  }

  /**
   * Connects.
   *
   * @return zero, {@code -EINPROGRESS} if the outcome is pending (wait until the socket is
   *     writable, then call {@link #takeError} once), or {@code -errno}. An interrupted call
   *     continues by itself and counts as in progress.
   */
  public static int connect(Sys sys, int fd, MemorySegment address) {
    int result = sys.connect(fd, address, (int) address.byteSize());
    return result == -EINTR ? -EINPROGRESS : result;
  }

  /** Returns and clears the socket's pending error; zero if there is none. */
  public static int takeError(Sys sys, int fd) throws ErrnoException {
    return option(sys, fd, SOL_SOCKET, SO_ERROR);
  }

  /** Shuts down one or both directions: {@link #SHUT_RD}, {@link #SHUT_WR}, {@link #SHUT_RDWR}. */
  public static void shutdown(Sys sys, int fd, int how) throws ErrnoException {
    call("shutdown", "socket " + fd, () -> sys.shutdown(fd, how));
  }

  /** The local address of a socket. */
  public static SocketAddress localAddress(Sys sys, int fd) throws ErrnoException {
    return address("getsockname", fd, (address, length) -> sys.getsockname(fd, address, length));
  }

  /** The address a socket is connected to. */
  public static SocketAddress remoteAddress(Sys sys, int fd) throws ErrnoException {
    return address("getpeername", fd, (address, length) -> sys.getpeername(fd, address, length));
  }

  private interface AddressCall {
    int fill(MemorySegment address, MemorySegment length);
  }

  private static SocketAddress address(String name, int fd, AddressCall ask) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address = arena.allocate(SocketAddresses.MAX_BYTES, Long.BYTES);
      MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, SocketAddresses.MAX_BYTES);
      call(name, "socket " + fd, () -> ask.fill(address, length));
      return SocketAddresses.decode(address, length.get(ValueLayout.JAVA_INT, 0));
    }
  }

  /** Whether it is a Unix socket. */
  public static boolean isUnix(Sys sys, int fd) throws ErrnoException {
    return option(sys, fd, SOL_SOCKET, SO_DOMAIN) == SocketAddresses.AF_UNIX;
  }

  /** The value of an integer option. */
  public static int option(Sys sys, int fd, int level, int name) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(ValueLayout.JAVA_INT);
      MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, Integer.BYTES);
      call(
          "getsockopt",
          "level %d, option %d".formatted(level, name),
          () -> sys.getsockopt(fd, level, name, value, length));
      return value.get(ValueLayout.JAVA_INT, 0);
    }
  }

  /** Sets an integer option. */
  public static void setOption(Sys sys, int fd, int level, int name, int value)
      throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment encoded = arena.allocateFrom(ValueLayout.JAVA_INT, value);
      call(
          "setsockopt",
          "level %d, option %d, value %d".formatted(level, name, value),
          () -> sys.setsockopt(fd, level, name, encoded, Integer.BYTES));
    }
  }

  /**
   * Makes the close abortive: unsent data is dropped and the peer sees a reset ({@code SO_LINGER}
   * with zero seconds).
   */
  public static void resetOnClose(Sys sys, int fd) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment linger = arena.allocateFrom(ValueLayout.JAVA_INT, 1, 0);
      call(
          "setsockopt",
          "SO_LINGER 0",
          () -> sys.setsockopt(fd, SOL_SOCKET, SO_LINGER, linger, 2 * Integer.BYTES));
    }
  }

  /** Sends without blocking or raising SIGPIPE; returns the number of bytes or {@code -errno}. */
  public static long send(Sys sys, int fd, MemorySegment buffer) {
    long result;
    do {
      result = sys.send(fd, buffer, buffer.byteSize(), MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (result == -EINTR);
    return result;
  }

  /** Receives without blocking; returns the number of bytes, zero at the end, or {@code -errno}. */
  public static long receive(Sys sys, int fd, MemorySegment buffer) {
    long result;
    do {
      result = sys.recv(fd, buffer, buffer.byteSize(), MSG_DONTWAIT);
    } while (result == -EINTR);
    return result;
  }
}
