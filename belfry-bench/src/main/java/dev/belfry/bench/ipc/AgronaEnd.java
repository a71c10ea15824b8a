package dev.belfry.bench.ipc;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.ringbuffer.ManyToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.OneToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.RingBuffer;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;

/** Two Agrona ring buffers over mapped files; waiting is spinning. */
final class AgronaEnd implements IpcEnd {
  private static final int KIND = 1;

  private final RingBuffer out;
  private final RingBuffer in;
  private final UnsafeBuffer bytes;
  private final MessageHandler handler;
  private long received;
  private long count;

  AgronaEnd(Path directory, boolean passive, boolean manyToOne, int length, boolean answered)
      throws IOException {
    int ringBytes = IpcEnd.bufferBytes(answered);
    RingBuffer to = ring(directory.resolve("to"), manyToOne, ringBytes);
    RingBuffer fro = ring(directory.resolve("fro"), manyToOne, ringBytes);
    this.out = passive ? fro : to;
    this.in = passive ? to : fro;
    this.bytes = new UnsafeBuffer(new byte[length]);
    byte[] copy = new byte[length];
    this.handler =
        (_, buffer, index, size) -> {
          buffer.getBytes(index, copy, 0, size);
          received = buffer.getLong(index);
          count++;
        };
  }

  private static RingBuffer ring(Path path, boolean manyToOne, int ringBytes) throws IOException {
    int size = ringBytes + RingBufferDescriptor.TRAILER_LENGTH;
    try (FileChannel file =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MappedByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, size);
      var buffer = new UnsafeBuffer(mapped);
      return manyToOne ? new ManyToOneRingBuffer(buffer) : new OneToOneRingBuffer(buffer);
    }
  }

  @Override
  public void send(long number) {
    bytes.putLong(0, number);
    while (!out.write(KIND, bytes, 0, bytes.capacity())) {
      Thread.onSpinWait();
    }
  }

  @Override
  public long receive() {
    while (in.read(handler, 1) == 0) {
      Thread.onSpinWait();
    }
    return received;
  }

  @Override
  public long receiveSome(long expected) {
    long before = count;
    while (in.read(handler) == 0) {
      Thread.onSpinWait();
    }
    long next = expected + (count - before);
    IpcEnd.check(received, next - 1);
    return next;
  }
}
