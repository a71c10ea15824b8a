package dev.belfry.bench.ipc;

import dev.belfry.linux.Sys;
import dev.belfry.shm.Awaited;
import dev.belfry.shm.FutexWait;
import dev.belfry.shm.Inbox;
import dev.belfry.shm.Link;
import dev.belfry.shm.Message;
import dev.belfry.shm.MessageKind;
import dev.belfry.shm.Outbox;
import dev.belfry.shm.PeerState;
import dev.belfry.shm.Placement;
import dev.belfry.shm.Segment;
import dev.belfry.shm.SegmentConfig;
import dev.belfry.shm.SendResult;
import dev.belfry.shm.WaitStrategy;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.Path;

/** A link of {@code belfry-shm}. The passive end is the host; the active end attaches by file. */
final class BelfryEnd implements IpcEnd {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final int DESCRIPTOR_BYTES = 128;
  private static final int READ_AT_ONCE = 64;

  private final Outbox outbox;
  private final Inbox inbox;
  private final byte[] bytes;
  private final int batch;
  private final Message message = new Message();
  private final Inbox.Handler handler = this::next;
  private int staged;
  private long expected;

  private BelfryEnd(Link link, int length, int batch) {
    this.outbox = link.outbox();
    this.inbox = link.inbox();
    this.bytes = new byte[length];
    this.batch = batch;
  }

  /** Creates the segment of the passive end; the other end may attach from now on. */
  static Segment create(Path directory, Placement placement, boolean answered) throws IOException {
    int ringSize = IpcEnd.bufferBytes(answered) / DESCRIPTOR_BYTES;
    return Segment.create(
        Sys.forAnyThread(),
        directory.resolve("belfry"),
        placement,
        SegmentConfig.DEFAULT.withMaxGuests(1).withRingSize(ringSize));
  }

  static BelfryEnd passive(Segment segment, WaitStrategy strategy, int length, int batch) {
    while (segment.peers().state(1) != PeerState.ATTACHED) {
      Thread.onSpinWait();
    }
    return new BelfryEnd(Link.toGuest(segment, 1, strategy), length, batch);
  }

  static BelfryEnd active(Path directory, WaitStrategy strategy, int length, int batch)
      throws IOException {
    Segment segment = Segment.attach(Sys.forAnyThread(), directory.resolve("belfry"));
    return new BelfryEnd(Link.walkIn(segment, strategy), length, batch);
  }

  @Override
  public void send(long number) {
    LONG.set(bytes, 0, number);
    if (batch == 1) {
      check(outbox.send(MessageKind.REQUEST, 1, 0, bytes, 0, bytes.length, FutexWait.FOREVER));
      return;
    }
    while (outbox.stage(MessageKind.REQUEST, 1, 0, bytes, 0, bytes.length) != SendResult.SENT) {
      outbox.publish();
      if (outbox.awaitSpace(FutexWait.FOREVER) != Awaited.READY
          || outbox.awaitSlot(FutexWait.FOREVER) != Awaited.READY) {
        throw new IllegalStateException("the peer is gone");
      }
    }
    if (++staged == batch) {
      flush();
    }
  }

  private static void check(SendResult result) {
    if (result != SendResult.SENT) {
      throw new IllegalStateException("not sent: " + result);
    }
  }

  @Override
  public void flush() {
    outbox.publish();
    staged = 0;
  }

  @Override
  public long receive() {
    if (inbox.receive(message, FutexWait.FOREVER) != Awaited.READY) {
      throw new IllegalStateException("the peer is gone");
    }
    return (long) LONG.get(message.bytes(), 0);
  }

  @Override
  public long receiveSome(long first) {
    if (batch == 1) {
      IpcEnd.check(receive(), first);
      return first + 1;
    }
    expected = first;
    while (inbox.receive(handler, message, READ_AT_ONCE) == 0) {
      if (inbox.awaitData(FutexWait.FOREVER) != Awaited.READY) {
        throw new IllegalStateException("the peer is gone");
      }
    }
    return expected;
  }

  private void next(Message received) {
    IpcEnd.check((long) LONG.get(received.bytes(), 0), expected++);
  }
}
