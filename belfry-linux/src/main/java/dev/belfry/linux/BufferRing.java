package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Buffers from which the kernel picks one when data arrives, so that a request waiting for data
 * ties up no buffer. A buffer it has picked is ours until it is {@link #give given} back. For the
 * thread of its ring; giving allocates nothing.
 */
public final class BufferRing implements AutoCloseable {
  private static final int IORING_REGISTER_PBUF_RING = 22;
  private static final int IORING_UNREGISTER_PBUF_RING = 23;

  /** The largest page size of any kernel. */
  private static final long PAGE = 64 * 1024;

  private static final VarHandle HALF_WORD = JAVA_SHORT.varHandle();
  private static final long ADDR = UringStructs.offset(UringStructs.BUF, "addr");
  private static final long LEN = UringStructs.offset(UringStructs.BUF, "len");
  private static final long BID = UringStructs.offset(UringStructs.BUF, "bid");
  private static final long TAIL = UringStructs.offset(UringStructs.BUF, "resv");
  private static final long BUF_BYTES = UringStructs.BUF.byteSize();
  private static final long RING_ADDR = UringStructs.offset(UringStructs.BUF_REG, "ring_addr");
  private static final long ENTRIES = UringStructs.offset(UringStructs.BUF_REG, "ring_entries");
  private static final long BGID = UringStructs.offset(UringStructs.BUF_REG, "bgid");

  private final Sys sys;
  private final int ring;
  private final int group;
  private final MemorySegment entries;
  private final int mask;

  /** The number of buffers given; the kernel reads its copy in the first entry. */
  private short tail;

  private BufferRing(Sys sys, int ring, int group, MemorySegment entries, int capacity) {
    this.sys = sys;
    this.ring = ring;
    this.group = group;
    this.entries = entries;
    this.mask = capacity - 1;
  }

  /**
   * Opens an empty ring of buffers.
   *
   * @param group the number by which requests refer to it
   * @param capacity the number of buffers it has room for, a power of two, at most 32768
   */
  public static BufferRing open(Sys sys, IoUring ring, int group, int capacity)
      throws ErrnoException {
    MemorySegment entries = Arena.ofAuto().allocate(capacity * BUF_BYTES, PAGE);
    var buffers = new BufferRing(sys, ring.number(), group, entries, capacity);
    buffers.register(IORING_REGISTER_PBUF_RING);
    return buffers;
  }

  private void register(int operation) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment registration = arena.allocate(UringStructs.BUF_REG);
      if (operation == IORING_REGISTER_PBUF_RING) {
        registration.set(JAVA_LONG, RING_ADDR, entries.address());
        registration.set(JAVA_INT, ENTRIES, mask + 1);
      }
      registration.set(JAVA_SHORT, BGID, (short) group);
      call(
          "io_uring_register",
          "buffers",
          () -> sys.ioUringRegister(ring, operation, registration, 1));
    }
  }

  /** The number by which requests refer to it. */
  public int group() {
    return group;
  }

  /** Gives the kernel a buffer; its memory must live until it comes back or the ring is closed. */
  public void give(int number, MemorySegment buffer) {
    long place = (tail & mask) * BUF_BYTES;
    entries.set(JAVA_LONG, place + ADDR, buffer.address());
    entries.set(JAVA_INT, place + LEN, (int) buffer.byteSize());
    entries.set(JAVA_SHORT, place + BID, (short) number);
    tail++;
    HALF_WORD.setRelease(entries, TAIL, tail); // release: the kernel may use the entry from now on
  }

  /** Takes all buffers back; no request may use them any more. */
  @Override
  public void close() {
    try {
      register(IORING_UNREGISTER_PBUF_RING);
    } catch (ErrnoException gone) {
      // It is released with its io_uring, which has used no buffer since.
    }
  }
}
