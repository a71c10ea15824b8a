package dev.belfry.loop;

import static dev.belfry.linux.Errno.EAGAIN;
import static dev.belfry.linux.Errno.EPIPE;

import dev.belfry.linux.Message;
import dev.belfry.linux.SubmissionQueue;
import dev.belfry.linux.Sys;
import java.lang.foreign.MemorySegment;

/**
 * Sends or receives one message, which may carry an address and descriptors. Its value is the
 * number of bytes, or {@link TransferOperation#END_OF_FILE} at the end of a stream.
 */
// r[impl loop.op.sendmsg]
public final class MessageOperation extends IoOperation<Integer> {
  private final Message message;
  private final boolean receives;
  private int bytes;

  MessageOperation(Handle handle, Message message, boolean receives) {
    super(handle);
    this.message = message;
    this.receives = receives;
  }

  /** The message. */
  public Message message() {
    return message;
  }

  /** The size in bytes, or {@link TransferOperation#END_OF_FILE}; valid after completion. */
  public int bytes() {
    return bytes;
  }

  @Override
  Integer value() {
    return bytes;
  }

  @Override
  void discardValue() {
    if (receives) {
      message.closeDescriptors(loop.sharedSys);
    }
  }

  @Override
  boolean isRead() {
    return receives;
  }

  @Override
  String call() {
    return receives ? "recvmsg" : "sendmsg";
  }

  @Override
  long attempt(Sys sys) {
    int fd = handle.descriptor();
    return receives ? orBroken(message.receive(sys, fd)) : judge(message.send(sys, fd));
  }

  @Override
  long judge(long result) {
    if (receives) {
      message.received(result);
      return orBroken(result);
    }
    if (result == -EAGAIN && !handle.tellsWhenWritable()) {
      return LATER;
    }
    return handle.orBroken(result, -EPIPE);
  }

  /** On a broken connection, the end of the stream is an error. */
  private long orBroken(long result) {
    return isEnd(result) ? handle.broken : result;
  }

  @Override
  int fill(MemorySegment source, long start, int length, int done) {
    return message.receive(source, start, length, done);
  }

  @Override
  boolean isRequest() {
    return true;
  }

  @Override
  void prepare(SubmissionQueue queue, long token) {
    if (receives) {
      queue.receive(token, handle.descriptor(), message);
    } else {
      queue.send(token, handle.descriptor(), message);
    }
  }

  @Override
  boolean accept(long result) {
    bytes = receives && isEnd(result) ? TransferOperation.END_OF_FILE : (int) result;
    return true;
  }

  private boolean isEnd(long result) {
    return result == 0 && handle.isStreamSocket() && message.data().hasRoom();
  }
}
