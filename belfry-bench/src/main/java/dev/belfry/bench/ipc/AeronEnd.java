package dev.belfry.bench.ipc;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import java.nio.file.Path;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Aeron over IPC, with exclusive publications and claimed buffers. The passive end runs the media
 * driver on one thread that mostly sleeps, because IPC does not pass through it.
 */
final class AeronEnd implements IpcEnd {
  private static final int TO = 1001;
  private static final int FRO = 1002;
  private static final int FRAGMENTS = 64;

  private final ExclusivePublication out;
  private final Subscription in;
  private final BufferClaim claim = new BufferClaim();
  private final UnsafeBuffer bytes;
  private final FragmentHandler handler;
  private long received;
  private long count;

  AeronEnd(Path directory, boolean passive, int length) {
    Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(aeronDirectory(directory)));
    this.out = aeron.addExclusivePublication("aeron:ipc", passive ? FRO : TO);
    this.in = aeron.addSubscription("aeron:ipc", passive ? TO : FRO);
    this.bytes = new UnsafeBuffer(new byte[length]);
    byte[] copy = new byte[length];
    this.handler =
        (buffer, offset, size, _) -> {
          buffer.getBytes(offset, copy, 0, size);
          received = buffer.getLong(offset);
          count++;
        };
  }

  private static String aeronDirectory(Path directory) {
    return directory.resolve("aeron").toString();
  }

  /**
   * Starts the driver that both ends need. A publisher may be half a term ahead of what the driver
   * has seen consumed, and the driver looks once a millisecond: another reason for larger terms
   * where messages are not answered one by one. There are three terms in each direction.
   */
  @SuppressWarnings("resource") // ends with the process
  static void startDriver(Path directory, boolean answered) {
    MediaDriver.launch(
        new MediaDriver.Context()
            .aeronDirectoryName(aeronDirectory(directory))
            .threadingMode(ThreadingMode.SHARED)
            .sharedIdleStrategy(new SleepingMillisIdleStrategy(1))
            .ipcTermBufferLength(IpcEnd.bufferBytes(answered))
            .dirDeleteOnStart(true)
            .dirDeleteOnShutdown(true));
  }

  @Override
  public void send(long number) {
    bytes.putLong(0, number);
    while (out.tryClaim(bytes.capacity(), claim) < 0) {
      Thread.onSpinWait(); // back-pressure, or not connected yet
    }
    claim.buffer().putBytes(claim.offset(), bytes, 0, bytes.capacity());
    claim.commit();
  }

  @Override
  public long receive() {
    while (in.poll(handler, 1) == 0) {
      Thread.onSpinWait();
    }
    return received;
  }

  @Override
  public long receiveSome(long expected) {
    long before = count;
    while (in.poll(handler, FRAGMENTS) == 0) {
      Thread.onSpinWait();
    }
    long next = expected + (count - before);
    IpcEnd.check(received, next - 1);
    return next;
  }
}
