package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Socket addresses as the kernel sees them ({@code ip(7)}, {@code ipv6(7)}, {@code unix(7)}):
 *
 * <pre>{@code
 * struct sockaddr_in  { u16 family; u16 port (big endian); u8 address[4]; u8 zero[8]; };   // 16
 * struct sockaddr_in6 { u16 family; u16 port (big endian); u32 flow; u8 address[16];
 *                       u32 scope; };                                                      // 28
 * struct sockaddr_un  { u16 family; char path[108]; };                                     // 110
 * }</pre>
 */
final class SocketAddresses {
  static final int AF_UNIX = 1;
  static final int AF_INET = 2;
  static final int AF_INET6 = 10;

  /** Enough for any of them. */
  static final int MAX_BYTES = 112;

  private static final int IN_BYTES = 16;
  private static final int IN6_BYTES = 28;
  private static final int PORT = 2;
  private static final int IN_ADDRESS = 4;
  private static final int IN6_ADDRESS = 8;
  private static final int IN6_SCOPE = 24;
  private static final int UN_PATH = 2;
  private static final int UN_PATH_BYTES = 108;

  private static final ValueLayout.OfShort PORT_LAYOUT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

  private SocketAddresses() {}

  /** The address family of sockets for this address. */
  static int family(SocketAddress address) {
    return switch (address) {
      case UnixDomainSocketAddress _ -> AF_UNIX;
      case InetSocketAddress inet -> inet.getAddress() instanceof Inet6Address ? AF_INET6 : AF_INET;
      default -> throw new IllegalArgumentException("neither IP nor Unix: " + address);
    };
  }

  /** Encodes the address in native memory of exactly its size. */
  static MemorySegment encode(SegmentAllocator allocator, SocketAddress address) {
    return switch (address) {
      case UnixDomainSocketAddress unix -> encodeUnix(allocator, unix);
      case InetSocketAddress inet -> encodeInet(allocator, inet);
      default -> throw new IllegalArgumentException("neither IP nor Unix: " + address);
    };
  }

  private static MemorySegment encodeUnix(SegmentAllocator memory, UnixDomainSocketAddress unix) {
    byte[] path = CStrings.path(unix.getPath()).getBytes(CStrings.BYTES);
    if (path.length == 0) { // the kernel would take it for an abstract address
      throw new IllegalArgumentException("the address of the Unix socket has no path");
    }
    if (path.length >= UN_PATH_BYTES) {
      throw new IllegalArgumentException(
          "the path of a Unix socket has at most 107 bytes, not %d: %s"
              .formatted(path.length, unix));
    }
    MemorySegment address = memory.allocate(UN_PATH + path.length + 1L, Short.BYTES);
    address.set(JAVA_SHORT, 0, (short) AF_UNIX);
    MemorySegment.copy(path, 0, address, JAVA_BYTE, UN_PATH, path.length);
    address.set(JAVA_BYTE, UN_PATH + path.length, (byte) 0);
    return address;
  }

  /** An abstract name follows a zero byte and has no terminator: every byte belongs to the name. */
  static MemorySegment encodeAbstract(SegmentAllocator memory, String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    if (bytes.length == 0 || bytes.length >= UN_PATH_BYTES) {
      throw new IllegalArgumentException(
          "the name of a Unix socket has 1 to 107 bytes, not %d: %s".formatted(bytes.length, name));
    }
    MemorySegment address = memory.allocate(UN_PATH + 1L + bytes.length, Short.BYTES);
    address.set(JAVA_SHORT, 0, (short) AF_UNIX);
    address.set(JAVA_BYTE, UN_PATH, (byte) 0);
    MemorySegment.copy(bytes, 0, address, JAVA_BYTE, UN_PATH + 1L, bytes.length);
    return address;
  }

  private static MemorySegment encodeInet(SegmentAllocator memory, InetSocketAddress inet) {
    InetAddress ip = inet.getAddress();
    if (ip == null) {
      throw new IllegalArgumentException("the host name was not resolved: " + inet);
    }
    boolean v6 = ip instanceof Inet6Address;
    MemorySegment address = memory.allocate(v6 ? IN6_BYTES : IN_BYTES, 4).fill((byte) 0);
    address.set(JAVA_SHORT, 0, (short) (v6 ? AF_INET6 : AF_INET));
    address.set(PORT_LAYOUT, PORT, (short) inet.getPort());
    byte[] bytes = ip.getAddress();
    int at = v6 ? IN6_ADDRESS : IN_ADDRESS;
    MemorySegment.copy(bytes, 0, address, JAVA_BYTE, at, bytes.length);
    if (ip instanceof Inet6Address six) {
      address.set(JAVA_INT_UNALIGNED, IN6_SCOPE, six.getScopeId());
    }
    return address;
  }

  /**
   * Decodes an address from native memory.
   *
   * @param length as reported by the kernel; an unnamed Unix socket has only the family
   * @return with an empty path if a Unix socket is unnamed or has an abstract name
   */
  static SocketAddress decode(MemorySegment address, int length) {
    if (length < Short.BYTES) {
      return UnixDomainSocketAddress.of(""); // the peer of a socket pair has no address at all
    }
    int family = address.get(JAVA_SHORT, 0);
    return switch (family) {
      case AF_UNIX -> decodeUnix(address, length);
      case AF_INET -> decodeInet(address, IN_ADDRESS, 4, 0);
      case AF_INET6 ->
          decodeInet(address, IN6_ADDRESS, 16, address.get(JAVA_INT_UNALIGNED, IN6_SCOPE));
      default -> throw new IllegalArgumentException("unknown address family " + family);
    };
  }

  private static SocketAddress decodeUnix(MemorySegment address, int length) {
    byte[] path = address.asSlice(UN_PATH, length - UN_PATH).toArray(JAVA_BYTE);
    int end = 0;
    while (end < path.length && path[end] != 0) {
      end++;
    }
    return UnixDomainSocketAddress.of(CStrings.path(new String(path, 0, end, CStrings.BYTES)));
  }

  private static SocketAddress decodeInet(MemorySegment address, int at, int size, int scope) {
    int port = Short.toUnsignedInt(address.get(PORT_LAYOUT, PORT));
    byte[] bytes = address.asSlice(at, size).toArray(JAVA_BYTE);
    try {
      InetAddress ip =
          scope == 0
              ? InetAddress.getByAddress(bytes)
              : Inet6Address.getByAddress(null, bytes, scope);
      return new InetSocketAddress(ip, port);
    } catch (UnknownHostException impossible) {
      throw new AssertionError("an address has 4 or 16 bytes", impossible);
    }
  }
}
