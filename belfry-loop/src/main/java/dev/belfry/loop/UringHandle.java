package dev.belfry.loop;

import static java.lang.System.Logger.Level.ERROR;

/** What a handle has on an io_uring: its lanes, and how much of it the kernel still uses. */
final class UringHandle {
  private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());

  final Handle handle;
  private final HandleTable handles;
  final UringLane reads;
  final UringLane writes;

  /** How many requests the kernel has that name the descriptor. */
  private int withKernel;

  private boolean closing;

  /** Takes the handle into a table, where it is found until its descriptor is closed. */
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

  /** Something has ended that a close may wait for. */
  void mayBeUnused() {
    try {
      closeIfUnused();
    } catch (IllegalStateException e) { // whoever waits for the kernel now cannot help it
      LOG.log(ERROR, "a descriptor could not be closed; the loop goes on", e);
    }
  }

  /**
   * Closes the descriptor as soon as the kernel no longer has a request that names it, and will get
   * none.
   */
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
