package dev.belfry.linux;

import static dev.belfry.linux.Errno.EINTR;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.net.SocketAddress;

/**
 * A message with everything it can carry: several pieces of data, an address, descriptors ({@code
 * sendmsg(2)}, {@code recvmsg(2)}, {@code cmsg(3)}). For one thread at a time; meant to be reused.
 *
 * {@snippet :
 * Message message = new Message(arena, 1, 1); // one piece of data, one descriptor
 * message.data().add(bytes);
 * message.addDescriptor(file.number());
 * long sent = message.send(sys, socket.number());
 * }
 *
 * <pre>{@code
 * struct msghdr {
 *   void *msg_name;         socklen_t msg_namelen;     // and 4 bytes of padding
 *   struct iovec *msg_iov;  size_t msg_iovlen;
 *   void *msg_control;      size_t msg_controllen;
 *   int msg_flags;                                     // and 4 bytes of padding
 * };
 * struct cmsghdr { size_t cmsg_len; int cmsg_level; int cmsg_type; };   // then the descriptors
 * }</pre>
 */
public final class Message {
  /** The most descriptors the kernel accepts in one message ({@code SCM_MAX_FD}). */
  public static final int MAX_DESCRIPTORS = 253;

  static final StructLayout MSGHDR =
      MemoryLayout.structLayout(
          JAVA_LONG.withName("name"),
          JAVA_INT.withName("namelen"),
          MemoryLayout.paddingLayout(4),
          JAVA_LONG.withName("iov"),
          JAVA_LONG.withName("iovlen"),
          JAVA_LONG.withName("control"),
          JAVA_LONG.withName("controllen"),
          JAVA_INT.withName("flags"),
          MemoryLayout.paddingLayout(4));

  static final StructLayout CMSGHDR =
      MemoryLayout.structLayout(
          JAVA_LONG.withName("len"), JAVA_INT.withName("level"), JAVA_INT.withName("type"));

  private static final long NAME = offset(MSGHDR, "name");
  private static final long NAME_LENGTH = offset(MSGHDR, "namelen");
  private static final long IOV = offset(MSGHDR, "iov");
  private static final long IOV_LENGTH = offset(MSGHDR, "iovlen");
  private static final long CONTROL = offset(MSGHDR, "control");
  private static final long CONTROL_LENGTH = offset(MSGHDR, "controllen");
  private static final long FLAGS = offset(MSGHDR, "flags");
  private static final long CMSG_LENGTH = offset(CMSGHDR, "len");
  private static final long CMSG_LEVEL = offset(CMSGHDR, "level");
  private static final long CMSG_TYPE = offset(CMSGHDR, "type");
  private static final long CMSG_BYTES = CMSGHDR.byteSize();

  private static final int SCM_RIGHTS = 1;
  private static final int MSG_CTRUNC = 0x08;
  private static final int MSG_TRUNC = 0x20;
  private static final int MSG_CMSG_CLOEXEC = 0x4000_0000;

  static final int SEND_FLAGS = Sockets.MSG_DONTWAIT | Sockets.MSG_NOSIGNAL;
  static final int RECEIVE_FLAGS = Sockets.MSG_DONTWAIT | MSG_CMSG_CLOEXEC;

  private final Iovecs data;
  private final MemorySegment header;
  private final MemorySegment name;
  private final MemorySegment control;
  private final int maxDescriptors;
  private int nameLength;
  private int descriptors;

  /** Allocates a message with room for a number of pieces and descriptors. */
  public Message(Arena arena, int maxPieces, int maxDescriptors) {
    if (maxDescriptors < 0 || maxDescriptors > MAX_DESCRIPTORS) {
      throw new IllegalArgumentException("0 to 253 descriptors, not " + maxDescriptors);
    }
    this.maxDescriptors = maxDescriptors;
    data = new Iovecs(arena, maxPieces);
    header = arena.allocate(MSGHDR);
    name = arena.allocate(SocketAddresses.MAX_BYTES, Long.BYTES);
    control = arena.allocate(alignToLong(controlBytes(maxDescriptors)), Long.BYTES);
  }

  /** Removes the data, the address and the descriptors. */
  public void clear() {
    data.clear();
    nameLength = 0;
    descriptors = 0;
  }

  /** The pieces to send or to fill. */
  public Iovecs data() {
    return data;
  }

  /** Sets the destination, for sockets that are not connected. */
  public void setAddress(SocketAddress address) {
    MemorySegment encoded = SocketAddresses.encode((size, align) -> name.asSlice(0, size), address);
    nameLength = (int) encoded.byteSize();
  }

  /** The address a message came from; an empty path for a Unix socket without one. */
  public SocketAddress address() {
    return SocketAddresses.decode(name, nameLength);
  }

  /** Adds a descriptor, which the receiver gets as a duplicate; ours stays open. */
  public void addDescriptor(int fd) {
    if (descriptors == maxDescriptors) {
      throw new IndexOutOfBoundsException("room for %d descriptors".formatted(maxDescriptors));
    }
    control.set(JAVA_INT, CMSG_BYTES + (long) descriptors * Integer.BYTES, fd);
    descriptors++;
  }

  /** The number of descriptors to send, or that were received. */
  public int descriptorCount() {
    return descriptors;
  }

  /** A received descriptor, close-on-exec; a caller that takes it must close it. */
  public int descriptor(int index) {
    if (index >= descriptors) {
      throw new IndexOutOfBoundsException("descriptor %d of %d".formatted(index, descriptors));
    }
    return control.get(JAVA_INT, CMSG_BYTES + (long) index * Integer.BYTES);
  }

  /** Closes received descriptors that the caller does not take. */
  public void closeDescriptors(Sys sys) {
    while (descriptors > 0) {
      int fd = descriptor(descriptors - 1);
      descriptors--;
      Fd.own(sys, fd, "received descriptor").close();
    }
  }

  /** Whether the received message was longer than the room for its data. */
  public boolean isDataTruncated() {
    return (header.get(JAVA_INT, FLAGS) & MSG_TRUNC) != 0;
  }

  /** Whether more descriptors came than there was room for; the kernel has closed those. */
  public boolean areDescriptorsTruncated() {
    return (header.get(JAVA_INT, FLAGS) & MSG_CTRUNC) != 0;
  }

  /**
   * Sends without blocking or raising SIGPIPE. Allocates nothing.
   *
   * @return the number of bytes, or {@code -errno}
   */
  public long send(Sys sys, int fd) {
    MemorySegment out = prepareToSend();
    long result;
    do {
      result = sys.sendmsg(fd, out, SEND_FLAGS);
    } while (result == -EINTR);
    return result;
  }

  /** Prepares the header for sending. */
  MemorySegment prepareToSend() {
    prepare(nameLength, descriptors == 0 ? 0 : writeControl());
    return header;
  }

  /**
   * Receives without blocking, into the added pieces. Allocates nothing.
   *
   * @return the number of bytes, zero at the end of a stream, or {@code -errno}
   */
  public long receive(Sys sys, int fd) {
    long result;
    do {
      result = sys.recvmsg(fd, prepareToReceive(), RECEIVE_FLAGS);
    } while (result == -EINTR);
    received(result);
    return result;
  }

  /** Prepares the header for receiving. */
  MemorySegment prepareToReceive() {
    // Exactly the requested room, without padding: the kernel would use the padding for one more
    // descriptor.
    prepare(SocketAddresses.MAX_BYTES, controlBytes(maxDescriptors));
    return header;
  }

  /** Takes in what the kernel has received, after a receive through {@link SubmissionQueue}. */
  public void received(long result) {
    boolean arrived = result >= 0;
    nameLength = arrived ? header.get(JAVA_INT, NAME_LENGTH) : 0;
    descriptors = arrived ? readControl() : 0;
  }

  /** Receives bytes that came without a header, as on a stream; see {@link Iovecs#copyFrom}. */
  public int receive(MemorySegment source, long start, int length, int skipped) {
    prepare(0, 0);
    return data.copyFrom(source, start, length, skipped);
  }

  private void prepare(int nameBytes, long controlBytes) {
    header.set(JAVA_LONG, NAME, nameBytes == 0 ? 0 : name.address());
    header.set(JAVA_INT, NAME_LENGTH, nameBytes);
    header.set(JAVA_LONG, IOV, data.segment().address());
    header.set(JAVA_LONG, IOV_LENGTH, data.count());
    header.set(JAVA_LONG, CONTROL, controlBytes == 0 ? 0 : control.address());
    header.set(JAVA_LONG, CONTROL_LENGTH, controlBytes);
    header.set(JAVA_INT, FLAGS, 0);
  }

  private long writeControl() {
    long length = controlBytes(descriptors);
    control.set(JAVA_LONG, CMSG_LENGTH, length);
    control.set(JAVA_INT, CMSG_LEVEL, Sockets.SOL_SOCKET);
    control.set(JAVA_INT, CMSG_TYPE, SCM_RIGHTS);
    return alignToLong(length);
  }

  /**
   * Finds the descriptors and moves them to the front. There are other records only if they were
   * enabled on the socket, such as the sender's credentials, and they use the same room.
   */
  private int readControl() {
    long end = header.get(JAVA_LONG, CONTROL_LENGTH);
    long length;
    for (long at = 0; at + CMSG_BYTES <= end; at += alignToLong(length)) {
      length = control.get(JAVA_LONG, at + CMSG_LENGTH);
      if (control.get(JAVA_INT, at + CMSG_LEVEL) == Sockets.SOL_SOCKET
          && control.get(JAVA_INT, at + CMSG_TYPE) == SCM_RIGHTS) {
        MemorySegment.copy(control, at, control, 0, length);
        return (int) ((length - CMSG_BYTES) / Integer.BYTES);
      }
    }
    return 0;
  }

  private static long controlBytes(int descriptors) {
    return CMSG_BYTES + (long) descriptors * Integer.BYTES;
  }

  private static long alignToLong(long bytes) {
    return (bytes + Long.BYTES - 1) & -Long.BYTES;
  }

  private static long offset(StructLayout layout, String field) {
    return layout.byteOffset(PathElement.groupElement(field));
  }
}
