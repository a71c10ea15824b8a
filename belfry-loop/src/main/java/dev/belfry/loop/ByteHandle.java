package dev.belfry.loop;

import dev.belfry.linux.Fd;
import dev.belfry.loop.TransferOperation.Kind;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A handle for reading and writing bytes. Buffers are native memory, or direct byte buffers, whose
 * position then advances. They must stay alive until the operation has completed, and be accessible
 * to the loop's thread, which memory confined to a coroutine is not.
 */
public abstract class ByteHandle extends Handle {
  private final Kind read;
  private final Kind write;

  ByteHandle(EventLoop loop, Fd fd, Kind read, Kind write) {
    super(loop, fd);
    this.read = read;
    this.write = write;
  }

  /** Reads what is available, at least a byte; {@link TransferOperation#END_OF_FILE} at the end. */
  // r[impl loop.op.read-some]
  public final TransferOperation readSome(MemorySegment buffer) {
    return new TransferOperation(this, read, false).buffer(buffer);
  }

  /** Reads what is available into a direct buffer. */
  public final TransferOperation readSome(ByteBuffer buffer) {
    return new TransferOperation(this, read, false).buffer(buffer);
  }

  /** Reads what is available into several buffers, one after the other. */
  public final TransferOperation readSome(List<MemorySegment> buffers) {
    return new TransferOperation(this, read, false).buffers(buffers);
  }

  /** Reads until the buffer is full; reads less only at the end of the file. */
  public final TransferOperation readAll(MemorySegment buffer) {
    return new TransferOperation(this, read, true).buffer(buffer);
  }

  /** Reads until the direct buffer is full; reads less only at the end of the file. */
  public final TransferOperation readAll(ByteBuffer buffer) {
    return new TransferOperation(this, read, true).buffer(buffer);
  }

  /** Writes as much as there is room for, at least one byte. */
  // r[impl loop.op.write-some]
  public final TransferOperation writeSome(MemorySegment buffer) {
    return new TransferOperation(this, write, false).buffer(buffer);
  }

  /** Writes as much of a direct buffer as there is room for. */
  public final TransferOperation writeSome(ByteBuffer buffer) {
    return new TransferOperation(this, write, false).buffer(buffer);
  }

  /** Writes as much of several buffers, one after the other, as there is room for. */
  public final TransferOperation writeSome(List<MemorySegment> buffers) {
    return new TransferOperation(this, write, false).buffers(buffers);
  }

  /** Writes the whole buffer. */
  public final TransferOperation writeAll(MemorySegment buffer) {
    return new TransferOperation(this, write, true).buffer(buffer);
  }

  /** Writes everything that remains in a direct buffer. */
  public final TransferOperation writeAll(ByteBuffer buffer) {
    return new TransferOperation(this, write, true).buffer(buffer);
  }
}
