package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The queue of requests, each with a token that is returned with its completion. The memory that a
 * request refers to must stay allocated until it has completed; requests documented as not waiting
 * use it only during {@link IoUring#enter}. Nothing here allocates.
 *
 * <p>A request that does not wait completes with {@code -EAGAIN} where it would have to.
 */
public final class SubmissionQueue {
  /** Reads or writes at the current position of the file, as {@code read(2)} does. */
  public static final long AT_POSITION = -1;

  private static final int IORING_OP_READV = 1;
  private static final int IORING_OP_WRITEV = 2;
  private static final int IORING_OP_POLL_ADD = 6;
  private static final int IORING_OP_SENDMSG = 9;
  private static final int IORING_OP_RECVMSG = 10;
  private static final int IORING_OP_ACCEPT = 13;
  private static final int IORING_OP_ASYNC_CANCEL = 14;
  private static final int IORING_OP_CONNECT = 16;
  private static final int IORING_OP_READ = 22;
  private static final int IORING_OP_WRITE = 23;
  private static final int IORING_OP_SEND = 26;
  private static final int IORING_OP_RECV = 27;
  private static final int IORING_OP_OPENAT2 = 28;
  private static final int IORING_OP_FUTEX_WAIT = 51;

  private static final int IOSQE_ASYNC = 1 << 4;
  private static final int IOSQE_BUFFER_SELECT = 1 << 5;
  private static final int IORING_POLL_ADD_MULTI = 1;
  private static final int IORING_RECV_MULTISHOT = 1 << 1;
  private static final int RWF_NOWAIT = 0x8;
  private static final int FUTEX2_SIZE_U32 = 2;
  private static final int FUTEX_MATCH_ANY = -1;
  private static final int NO_FD = -1;

  private static final int IORING_SQ_CQ_OVERFLOW = 1 << 1;
  private static final int IORING_SQ_TASKRUN = 1 << 2;

  private static final VarHandle WORD = JAVA_INT.varHandle();
  private static final long SQE_BYTES = UringStructs.SQE.byteSize();
  private static final long USER_DATA = UringStructs.offset(UringStructs.SQE, "user_data");

  /** How a read or write of a file waits. */
  public enum Waiting {
    /** Not at all. */
    NEVER,
    /** In the kernel, asynchronously, if the file requires it. */
    IF_NEEDED,
    /** In the kernel from the start, on a kernel thread. */
    ASIDE
  }

  private final MemorySegment rings;
  private final MemorySegment entries;
  private final long headPlace;
  private final long tailPlace;
  private final long flagsPlace;
  private final int mask;

  /** The number of requests written; made visible to the kernel by {@link #publish}. */
  private int tail;

  SubmissionQueue(
      MemorySegment rings, MemorySegment entries, MemorySegment params, boolean indirect) {
    this.rings = rings;
    this.entries = entries;
    this.headPlace = UringStructs.place(params, "sq_off", "head");
    this.tailPlace = UringStructs.place(params, "sq_off", "tail");
    this.flagsPlace = UringStructs.place(params, "sq_off", "flags");
    this.mask = rings.get(JAVA_INT, UringStructs.place(params, "sq_off", "ring_mask"));
    this.tail = rings.get(JAVA_INT, tailPlace);
    if (indirect) { // an array of indexes, which never change
      long array = UringStructs.place(params, "sq_off", "array");
      for (int i = 0; i <= mask; i++) {
        rings.set(JAVA_INT, array + (long) i * Integer.BYTES, i);
      }
    }
  }

  /** The number of requests written and not yet consumed by the kernel. */
  public int size() {
    return tail - (int) WORD.getAcquire(rings, headPlace);
  }

  /** Whether there is no room for a request; {@link IoUring#enter} makes room. */
  public boolean isFull() {
    return size() > mask;
  }

  /** Publishes the written requests to the kernel; returns how many it has not consumed. */
  int publish() {
    WORD.setRelease(rings, tailPlace, tail);
    return size();
  }

  /**
   * Takes back the last request that the kernel has not consumed, of which there must be one;
   * returns its token.
   */
  public long takeBack() {
    if (size() == 0) {
      throw new IllegalStateException("the kernel has taken all requests");
    }
    tail--; // the kernel reads it when it is entered again
    return entries.get(JAVA_LONG, place(tail) + USER_DATA);
  }

  boolean hasWork() {
    int flags = (int) WORD.getOpaque(rings, flagsPlace);
    return (flags & (IORING_SQ_CQ_OVERFLOW | IORING_SQ_TASKRUN)) != 0 || size() > 0;
  }

  /** Waits until a descriptor is ready; both events and result are as in {@link Epoll}. */
  public void poll(long token, int fd, int events) {
    put(IORING_OP_POLL_ADD, 0, 0, fd, 0, 0, 0, events, token, 0);
  }

  /** Waits as {@link #poll} does, with a completion each time it is ready (multishot). */
  public void pollAlways(long token, int fd, int events) {
    put(IORING_OP_POLL_ADD, 0, 0, fd, 0, 0, IORING_POLL_ADD_MULTI, events, token, 0);
  }

  /** Cancels a request: it completes with {@code -ECANCELED} unless it completes otherwise. */
  public void cancel(long token, long target) {
    put(IORING_OP_ASYNC_CANCEL, 0, 0, NO_FD, 0, target, 0, 0, token, 0);
  }

  /** Reads at an offset, or {@link #AT_POSITION}. */
  public void read(long token, int fd, MemorySegment buffer, long offset, Waiting waiting) {
    transfer(IORING_OP_READ, token, fd, address(buffer), (int) buffer.byteSize(), offset, waiting);
  }

  /** Writes at an offset, or {@link #AT_POSITION}. */
  public void write(long token, int fd, MemorySegment buffer, long offset, Waiting waiting) {
    transfer(IORING_OP_WRITE, token, fd, address(buffer), (int) buffer.byteSize(), offset, waiting);
  }

  /** Reads into several pieces, at the current position. */
  public void read(long token, int fd, Iovecs pieces, Waiting waiting) {
    long array = pieces.segment().address();
    transfer(IORING_OP_READV, token, fd, array, pieces.count(), AT_POSITION, waiting);
  }

  /** Writes several pieces, at the current position. */
  public void write(long token, int fd, Iovecs pieces, Waiting waiting) {
    long array = pieces.segment().address();
    transfer(IORING_OP_WRITEV, token, fd, array, pieces.count(), AT_POSITION, waiting);
  }

  private void transfer(
      int operation, long token, int fd, long address, int length, long offset, Waiting waiting) {
    int flags = waiting == Waiting.ASIDE ? IOSQE_ASYNC : 0;
    int how = waiting == Waiting.NEVER ? RWF_NOWAIT : 0;
    put(operation, flags, 0, fd, offset, address, length, how, token, 0);
  }

  /** Receives what is available; does not wait. */
  public void receive(long token, int fd, MemorySegment buffer) {
    int length = (int) buffer.byteSize();
    put(IORING_OP_RECV, 0, 0, fd, 0, address(buffer), length, Sockets.MSG_DONTWAIT, token, 0);
  }

  /** Receives into buffers of a {@link BufferRing}, with a completion each time (multishot). */
  public void receiveAlways(long token, int fd, int group) {
    put(IORING_OP_RECV, IOSQE_BUFFER_SELECT, IORING_RECV_MULTISHOT, fd, 0, 0, 0, 0, token, group);
  }

  /** Sends as much as there is room for, without raising SIGPIPE; does not wait. */
  public void send(long token, int fd, MemorySegment buffer) {
    int length = (int) buffer.byteSize();
    put(IORING_OP_SEND, 0, 0, fd, 0, address(buffer), length, Message.SEND_FLAGS, token, 0);
  }

  /** Sends a message; does not wait. */
  public void send(long token, int fd, Message message) {
    long header = message.prepareToSend().address();
    put(IORING_OP_SENDMSG, 0, 0, fd, 0, header, 1, Message.SEND_FLAGS, token, 0);
  }

  /** Receives a message; does not wait. Pass the result to {@link Message#received}. */
  public void receive(long token, int fd, Message message) {
    long header = message.prepareToReceive().address();
    put(IORING_OP_RECVMSG, 0, 0, fd, 0, header, 1, Message.RECEIVE_FLAGS, token, 0);
  }

  /** Waits for and accepts a connection, non-blocking and close-on-exec. */
  public void accept(long token, int fd) {
    put(IORING_OP_ACCEPT, 0, 0, fd, 0, 0, 0, Sockets.ACCEPT_FLAGS, token, 0);
  }

  /** Connects to an address encoded by {@link Sockets#encode}; waits for the outcome. */
  public void connect(long token, int fd, MemorySegment address) {
    put(IORING_OP_CONNECT, 0, 0, fd, address.byteSize(), address(address), 0, 0, token, 0);
  }

  /** Opens a file as described by {@link OpenFile.Request}; waits for the disk. */
  public void open(long token, OpenFile.Request request) {
    int size = (int) request.how.byteSize();
    long how = request.how.address();
    long name = request.name.address();
    put(IORING_OP_OPENAT2, 0, 0, request.directory, how, name, size, 0, token, 0);
  }

  /**
   * Waits while a word of memory, possibly shared with other processes, has the expected value. It
   * completes when {@link Futex#wake} wakes it, or with {@code -EAGAIN} if the word has another
   * value.
   */
  public void futexWait(long token, MemorySegment word, int expected) {
    put(
        IORING_OP_FUTEX_WAIT,
        0,
        0,
        FUTEX2_SIZE_U32,
        Integer.toUnsignedLong(expected),
        address(word),
        0,
        0,
        token,
        0);
    // The mask of wake-ups is in a field that no other request uses.
    entries.set(JAVA_LONG, place(tail - 1) + 48, Integer.toUnsignedLong(FUTEX_MATCH_ANY));
  }

  private static long address(MemorySegment memory) {
    if (!memory.scope().isAlive()) {
      throw new IllegalStateException("the memory was freed");
    }
    return memory.address();
  }

  private long place(int index) {
    return (index & mask) * SQE_BYTES;
  }

  /** Writes a request as eight words of eight bytes; see {@link UringStructs#SQE}. */
  private void put(
      int operation,
      int flags,
      int priority,
      int fd,
      long offset,
      long address,
      int length,
      int operationFlags,
      long token,
      int group) {
    if (isFull()) {
      throw new IllegalStateException("no room for a request: enter first");
    }
    long place = place(tail);
    long first = operation | (flags << 8) | (priority << 16);
    entries.set(JAVA_LONG, place, first | ((long) fd << Integer.SIZE));
    entries.set(JAVA_LONG, place + 8, offset);
    entries.set(JAVA_LONG, place + 16, address);
    entries.set(
        JAVA_LONG,
        place + 24,
        Integer.toUnsignedLong(length) | ((long) operationFlags << Integer.SIZE));
    entries.set(JAVA_LONG, place + USER_DATA, token);
    entries.set(JAVA_LONG, place + 40, group);
    entries.set(JAVA_LONG, place + 48, 0);
    entries.set(JAVA_LONG, place + 56, 0);
    tail++;
  }
}
