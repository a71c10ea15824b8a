package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/** The queue of completions, in the order in which requests ended. */
public final class CompletionQueue {
  private static final int IORING_CQE_F_BUFFER = 1;
  private static final int IORING_CQE_F_MORE = 1 << 1;
  private static final int IORING_CQE_BUFFER_SHIFT = 16;

  private static final VarHandle WORD = JAVA_INT.varHandle();
  private static final long USER_DATA = UringStructs.offset(UringStructs.CQE, "user_data");
  private static final long RES = UringStructs.offset(UringStructs.CQE, "res");
  private static final long FLAGS = UringStructs.offset(UringStructs.CQE, "flags");
  private static final long CQE_BYTES = UringStructs.CQE.byteSize();

  private final MemorySegment rings;
  private final long headPlace;
  private final long tailPlace;
  private final long entries;
  private final int mask;

  /** The number of completions taken; written by us, read by the kernel. */
  private int head;

  /** The number of completions when we last looked; written by the kernel. */
  private int tail;

  private long token;
  private int result;
  private int flags;

  CompletionQueue(MemorySegment rings, MemorySegment params) {
    this.rings = rings;
    this.headPlace = UringStructs.place(params, "cq_off", "head");
    this.tailPlace = UringStructs.place(params, "cq_off", "tail");
    this.entries = UringStructs.place(params, "cq_off", "cqes");
    this.mask = rings.get(JAVA_INT, UringStructs.place(params, "cq_off", "ring_mask"));
    this.head = rings.get(JAVA_INT, headPlace);
    this.tail = head;
  }

  /** Whether there is no completion to take. */
  public boolean isEmpty() {
    if (head == tail) {
      tail = (int) WORD.getAcquire(rings, tailPlace); // acquires the entries it counts
    }
    return head == tail;
  }

  /** Takes the next completion, if there is one; the methods below describe it. */
  public boolean next() {
    if (isEmpty()) {
      return false;
    }
    long place = entries + (head & mask) * CQE_BYTES;
    token = rings.get(JAVA_LONG, place + USER_DATA);
    result = rings.get(JAVA_INT, place + RES);
    flags = rings.get(JAVA_INT, place + FLAGS);
    head++;
    WORD.setRelease(rings, headPlace, head); // the kernel may reuse the entry now
    return true;
  }

  /** The token of the request. */
  public long token() {
    return token;
  }

  /** Zero or more, or {@code -errno}, as the system call would return it. */
  public int result() {
    return result;
  }

  /** The flags, for the methods below; zero if none is set. */
  public int flags() {
    return flags;
  }

  /** Whether more completions of the same request follow. */
  public static boolean hasMore(int flags) {
    return (flags & IORING_CQE_F_MORE) != 0;
  }

  /** Whether the kernel has put the data into a buffer of a {@link BufferRing}. */
  public static boolean hasBuffer(int flags) {
    return (flags & IORING_CQE_F_BUFFER) != 0;
  }

  /** The number of that buffer. */
  public static int buffer(int flags) {
    return flags >>> IORING_CQE_BUFFER_SHIFT;
  }
}
