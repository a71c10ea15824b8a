package dev.belfry.loop;

import static dev.belfry.linux.Errno.EPIPE;

import dev.belfry.linux.Io;
import dev.belfry.linux.Iovecs;
import dev.belfry.linux.Message;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.SubmissionQueue;
import dev.belfry.linux.Sys;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads or writes bytes. Created by the handles. It may be started again, with the same buffer or
 * another.
 */
public final class TransferOperation extends IoOperation<Integer> {
  /** The value of a read that found the end of the file; a read into an empty buffer returns 0. */
  public static final int END_OF_FILE = -1;

  /** Which system call moves the bytes. */
  enum Kind {
    READ("read", true),
    WRITE("write", false),
    RECEIVE("recv", true),
    SEND("send", false),
    READ_AT("pread", true),
    WRITE_AT("pwrite", false);

    private final String call;
    private final boolean read;

    Kind(String call, boolean read) {
      this.call = call;
      this.read = read;
    }
  }

  private final Kind kind;

  /** Whether to go on until the whole buffer is transferred or the file ends. */
  private final boolean all;

  private MemorySegment buffer = MemorySegment.NULL;
  private @Nullable ByteBuffer byteBuffer;

  /** Several buffers; for sockets as a message, because writev cannot suppress SIGPIPE. */
  private @Nullable Iovecs pieces;

  private @Nullable Message message;
  private long wanted;
  private long offset;
  private int transferred;
  private boolean endOfFile;

  TransferOperation(Handle handle, Kind kind, boolean all) {
    super(handle);
    this.kind = kind;
    this.all = all;
  }

  /**
   * Sets the buffer for the next start.
   *
   * @throws IllegalStateException if it was started and has not completed yet
   */
  public TransferOperation buffer(MemorySegment memory) {
    requireIdle();
    use(memory, null);
    return this;
  }

  /**
   * Sets the buffer for the next start to what remains of a direct buffer, whose position then
   * advances.
   *
   * @throws IllegalStateException if it was started and has not completed yet
   */
  public TransferOperation buffer(ByteBuffer direct) {
    requireIdle();
    useRest(direct);
    return this;
  }

  private void useRest(ByteBuffer direct) {
    if (!direct.isDirect()) {
      throw new IllegalArgumentException("the kernel needs native memory: use a direct buffer");
    }
    use(MemorySegment.ofBuffer(direct), direct);
  }

  private void use(MemorySegment memory, @Nullable ByteBuffer advancing) {
    if (!memory.isNative()) {
      throw new IllegalArgumentException(
          "the kernel needs native memory: allocate the buffer from an arena, not from an array");
    }
    requireUsable(memory);
    if (memory.byteSize() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("at most 2 GiB at once, not " + memory.byteSize());
    }
    buffer = memory;
    byteBuffer = advancing;
    pieces = null;
    message = null;
    wanted = memory.byteSize();
  }

  /**
   * Sets several buffers for the next start, filled or sent one after the other.
   *
   * @throws IllegalStateException if it was started and has not completed yet
   */
  public TransferOperation buffers(List<MemorySegment> memory) {
    requireIdle();
    if (all || kind == Kind.READ_AT || kind == Kind.WRITE_AT) {
      throw new IllegalArgumentException("several buffers are for readSome and writeSome");
    }
    Message gathered = isSocket() ? new Message(Arena.ofAuto(), memory.size(), 0) : null;
    Iovecs vectors = gathered != null ? gathered.data() : new Iovecs(Arena.ofAuto(), memory.size());
    long sum = 0;
    for (MemorySegment piece : memory) {
      requireUsable(piece);
      vectors.add(piece);
      sum += piece.byteSize();
    }
    pieces = vectors;
    message = gathered;
    byteBuffer = null;
    wanted = sum;
    return this;
  }

  private void requireUsable(MemorySegment memory) {
    if (kind.read && memory.isReadOnly()) {
      throw new IllegalArgumentException("what is read needs a buffer that can be written");
    }
    Thread driving = loop.owner();
    if (driving != null && !memory.isAccessibleBy(driving) && !memory.isAccessibleBy(STRANGER)) {
      throw new IllegalArgumentException(
          "the loop's thread cannot reach memory confined to another thread, which a coroutine is:"
              + " allocate the buffer from Arena.ofAuto() or Arena.ofShared()");
    }
  }

  /**
   * Sets the file offset for the next start of a read or write at an offset.
   *
   * @throws IllegalStateException if it was started and has not completed yet
   */
  public TransferOperation offset(long place) {
    requireIdle();
    if (place < 0) {
      throw new IllegalArgumentException("a file has no place " + place);
    }
    offset = place;
    return this;
  }

  /** The number of bytes transferred, or {@link #END_OF_FILE}; valid after completion. */
  public int bytes() {
    return endOfFile && transferred == 0 ? END_OF_FILE : transferred;
  }

  // r[impl loop.op.value]
  @Override
  Integer value() {
    return bytes();
  }

  @Override
  boolean isRead() {
    return kind.read;
  }

  @Override
  String call() {
    if (pieces == null) {
      return kind.call;
    }
    return message == null ? kind.call + "v" : kind.call + "msg";
  }

  @Override
  void reset() {
    transferred = 0;
    endOfFile = false;
    if (pieces == null && !buffer.scope().isAlive()) {
      throw new IllegalStateException("the buffer was freed before the start of " + this);
    }
    ByteBuffer remaining = byteBuffer;
    if (remaining != null) {
      useRest(remaining); // its position has advanced
    }
  }

  // r[impl loop.op.zero]
  @Override
  boolean isEmpty() {
    return wanted == 0;
  }

  @Override
  long attempt(Sys sys) {
    return judge(transfer(sys));
  }

  // r[impl loop.op.error]
  @Override
  long judge(long result) {
    return handle.orBroken(result, kind.read ? 0 : -EPIPE);
  }

  private long transfer(Sys sys) {
    int fd = handle.fd.number();
    Iovecs vectors = pieces;
    if (vectors != null) {
      return attemptVectored(sys, fd, vectors);
    }
    MemorySegment rest = transferred == 0 ? buffer : buffer.asSlice(transferred);
    return switch (kind) {
      case READ -> Io.read(sys, fd, rest);
      case WRITE -> Io.write(sys, fd, rest);
      case RECEIVE -> Sockets.receive(sys, fd, rest);
      case SEND -> Sockets.send(sys, fd, rest);
      case READ_AT -> Io.readAt(sys, fd, rest, offset + transferred);
      case WRITE_AT -> Io.writeAt(sys, fd, rest, offset + transferred);
    };
  }

  private long attemptVectored(Sys sys, int fd, Iovecs vectors) {
    if (message != null) {
      return kind.read ? message.receive(sys, fd) : message.send(sys, fd);
    }
    return kind.read ? Io.read(sys, fd, vectors) : Io.write(sys, fd, vectors);
  }

  @Override
  boolean isRequest() {
    // io_uring ignores the offset if the file cannot seek; a system call refuses it.
    return !handle.takesCallsOnly && (isOrdered() || handle.isRegularFile());
  }

  @Override
  boolean readsAtMost(int bytes) {
    return kind.read && pieces == null && wanted <= bytes;
  }

  @Override
  int fill(MemorySegment source, long start, int length, int done) {
    Iovecs vectors = pieces;
    if (vectors != null) {
      return vectors.copyFrom(source, start, length, done);
    }
    int place = transferred + done;
    int room = (int) Math.min(length, wanted - place);
    MemorySegment.copy(source, start, buffer, place, room);
    return room;
  }

  @Override
  boolean isOrdered() {
    return kind != Kind.READ_AT && kind != Kind.WRITE_AT;
  }

  @Override
  void prepare(SubmissionQueue queue, long token) {
    int fd = handle.fd.number();
    Iovecs vectors = pieces;
    if (vectors != null) {
      prepareVectored(queue, token, fd, vectors);
      return;
    }
    MemorySegment rest = transferred == 0 ? buffer : buffer.asSlice(transferred);
    long place = isOrdered() ? SubmissionQueue.AT_POSITION : offset + transferred;
    switch (kind) {
      case RECEIVE -> queue.receive(token, fd, rest);
      case SEND -> queue.send(token, fd, rest);
      case READ, READ_AT -> queue.read(token, fd, rest, place, waiting());
      case WRITE, WRITE_AT -> queue.write(token, fd, rest, place, waiting());
    }
  }

  private void prepareVectored(SubmissionQueue queue, long token, int fd, Iovecs vectors) {
    Message gathered = message;
    if (gathered == null && kind.read) {
      queue.read(token, fd, vectors, waiting());
    } else if (gathered == null) {
      queue.write(token, fd, vectors, waiting());
    } else if (kind.read) {
      queue.receive(token, fd, gathered);
    } else {
      queue.send(token, fd, gathered);
    }
  }

  private SubmissionQueue.Waiting waiting() {
    if (!handle.isRegularFile()) {
      return SubmissionQueue.Waiting.NEVER;
    }
    return aside ? SubmissionQueue.Waiting.ASIDE : SubmissionQueue.Waiting.IF_NEEDED;
  }

  private boolean isSocket() {
    return kind == Kind.RECEIVE || kind == Kind.SEND;
  }

  @Override
  boolean accept(long result) {
    transferred += (int) result;
    endOfFile = kind.read && result == 0;
    ByteBuffer advancing = byteBuffer;
    if (advancing != null) {
      advancing.position(advancing.position() + (int) result);
    }
    return !all || endOfFile || transferred == wanted;
  }

  @Override
  boolean exhausts(long result) {
    return kind.read && result > 0 && transferred + result < wanted;
  }
}
