package dev.belfry.loop;

import static dev.belfry.linux.Errno.ECANCELED;
import static dev.belfry.linux.Errno.EINVAL;
import static dev.belfry.linux.Errno.ENOBUFS;

import dev.belfry.linux.CompletionQueue;
import dev.belfry.linux.SubmissionQueue;
import java.util.Arrays;

/**
 * Receives on a TCP socket ahead of reads. A multishot request stays with the kernel and completes
 * whenever data arrives, in buffers of the loop, so that a small read costs no request at all. Data
 * is kept in order until it is read. When too much is unread, the request is cancelled, and
 * back-pressure reaches the peer as it would without it.
 */
final class UringReceiver extends UringRequest {
  /** Larger reads do better with their own memory. */
  static final int LARGEST_READ = 4096;

  /** How many buffers may be full of unread data. */
  private static final int ENOUGH = 8;

  private final Uring uring;
  private final UringLane lane;
  private final int fd;

  // The received data: a ring buffer of buffer ids and their lengths.
  private int[] buffers = new int[ENOUGH];
  private int[] lengths = new int[ENOUGH];
  private int first;
  private int count;

  /** How much of the first buffer was read. */
  private int consumed;

  /** The error that came after the data, {@code -errno} or zero. */
  private int error;

  /** Whether the kernel ran out of buffers, so that the next read needs its own memory. */
  private boolean starved;

  UringReceiver(Uring uring, UringHandle owner, UringLane lane) {
    super(owner);
    this.uring = uring;
    this.lane = lane;
    this.fd = owner.handle.fd.number();
  }

  @Override
  void prepare(SubmissionQueue queue, long token) {
    queue.receiveAlways(token, fd, uring.bufferGroup());
  }

  @Override
  void completed(int result, int flags) {
    if (CompletionQueue.hasBuffer(flags)) {
      add(CompletionQueue.buffer(flags), result);
    } else if (result == -ENOBUFS) {
      starved = true;
    } else if (result == -EINVAL) {
      uring.receivesAhead = false; // Linux before 6.0
    } else if (result < 0 && result != -ECANCELED) {
      error = result; // the kernel reports it only once, even after a cancel
      lane.failed(result);
    } else if (result == 0 && count == 0) {
      lane.endOfFile(); // a later read gets the end of file again
    }
    lane.goOn();
  }

  @Override
  void failed(Throwable failure) {
    uring.receivesAhead = false; // provided buffers are not supported here
    lane.goOn();
  }

  private void add(int buffer, int length) {
    uring.buffers().hold(buffer);
    if (lane.isClosed()) {
      uring.buffers().release(buffer);
      lane.resetOnClose();
      return;
    }
    if (count == buffers.length) {
      grow();
    }
    int place = (first + count++) & (buffers.length - 1);
    buffers[place] = buffer;
    lengths[place] = length;
    if (count >= ENOUGH && !lane.isWaitedFor()) {
      uring.withdraw(this);
    }
  }

  private void grow() {
    int[] ids = Arrays.copyOf(buffers, count * 2);
    int[] sizes = Arrays.copyOf(lengths, count * 2);
    for (int i = 0; i < count; i++) {
      ids[i] = buffers[(first + i) & (count - 1)];
      sizes[i] = lengths[(first + i) & (count - 1)];
    }
    buffers = ids;
    lengths = sizes;
    first = 0;
  }

  /** Whether there is data for a read. */
  boolean hasData() {
    return count > 0;
  }

  /** The error to report once all data is read: {@code -errno}, only once; otherwise zero. */
  int takeError() {
    int taken = error;
    error = 0;
    return taken;
  }

  /** Copies received data to an operation; returns how much. */
  int fill(IoOperation<?> operation) {
    int copied = 0;
    while (count > 0) {
      int buffer = buffers[first];
      int left = lengths[first] - consumed;
      long start = ReceiveBuffers.start(buffer) + consumed;
      int taken = operation.fill(uring.buffers().memory(), start, left, copied);
      copied += taken;
      consumed += taken;
      if (taken < left) {
        break;
      }
      dropFirst();
    }
    return copied;
  }

  private void dropFirst() {
    uring.buffers().release(buffers[first]);
    first = (first + 1) & (buffers.length - 1);
    count--;
    consumed = 0;
  }

  /** Whether this receiver serves the read, so that it need not be a request of its own. */
  boolean serves(IoOperation<?> operation) {
    if (starved) {
      starved = false;
      return false;
    }
    return uring.receivesAhead && operation.readsAtMost(LARGEST_READ);
  }

  /** Unread data is lost; a reset tells the peer, as if the data were still in the kernel. */
  void close() {
    if (count > 0) {
      lane.resetOnClose();
    }
    while (count > 0) {
      dropFirst();
    }
    uring.withdraw(this);
  }
}
