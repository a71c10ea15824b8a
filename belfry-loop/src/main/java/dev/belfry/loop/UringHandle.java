package dev.belfry.loop;

/** What a handle has on an io_uring: its lanes, and how much of it the kernel still uses. */
final class UringHandle {
  final Handle handle;
  final UringLane reads;
  final UringLane writes;

  /** How many requests the kernel has that name the descriptor. */
  private int withKernel;

  private boolean closing;

  UringHandle(Uring uring, Handle handle) {
    this.handle = handle;
    this.reads = new UringLane(uring, this, handle.reads, true);
    this.writes = new UringLane(uring, this, handle.writes, false);
  }

  UringLane lane(IoOperation<?> operation) {
    return operation.isRead() ? reads : writes;
  }

  void kernelTook() {
    withKernel++;
  }

  void kernelGaveBack() {
    withKernel--;
    closeIfUnused();
  }

  /** Closes the descriptor as soon as the kernel no longer has a request that names it. */
  // r[impl loop.fd.close]
  void close() {
    reads.close();
    writes.close();
    closing = true;
    closeIfUnused();
  }

  private void closeIfUnused() {
    if (closing && withKernel == 0) {
      closing = false;
      handle.fd.close();
    }
  }
}
