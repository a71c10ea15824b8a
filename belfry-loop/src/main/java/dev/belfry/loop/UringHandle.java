package dev.belfry.loop;

import static java.lang.System.Logger.Level.ERROR;

/** The io_uring state of a handle: its lanes, and how many of its requests the kernel has. */
final class UringHandle {
  private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());

  final Handle handle;
  private final HandleTable handles;
  final UringLane reads;
  final UringLane writes;

  /** The number of requests with the kernel that refer to the descriptor. */
  private int withKernel;

  private boolean closing;

  /** Adds the handle to the table, where it stays until its descriptor is closed. */
  UringHandle(Uring uring, HandleTable handles, Handle handle) {
    this.handle = handle;
    this.handles = handles;
    this.reads = new UringLane(uring, this, handle.reads, true);
    this.writes = new UringLane(uring, this, handle.writes, false);
    handles.add(handle);
  }

  UringLane lane(IoOperation<?> operation) {
    return operation.isRead() ? reads : writes;
  }

  void kernelTook() {
    withKernel++;
  }

  void kernelGaveBack() {
    withKernel--;
    mayBeUnused();
  }

  /** Something has ended that a close may be waiting for. */
  void mayBeUnused() {
    try {
      closeIfUnused();
    } catch (IllegalStateException e) { // the code that runs now cannot handle it
      LOG.log(ERROR, "a descriptor could not be closed; the loop goes on", e);
    }
  }

  /** Closes the descriptor as soon as the kernel has no request for it, and will get none. */
  // r[impl loop.fd.close]
  void close() {
    reads.close();
    writes.close();
    closing = true;
    closeIfUnused();
  }

  private void closeIfUnused() {
    if (closing && withKernel == 0 && !writes.isWaitedFor()) {
      closing = false;
      handles.remove(handle);
      handle.fd.close();
    }
  }
}
