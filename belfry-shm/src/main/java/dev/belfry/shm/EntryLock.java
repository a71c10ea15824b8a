package dev.belfry.shm;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.FileLocks;
import dev.belfry.linux.Sys;
import java.lang.System.Logger.Level;

/**
 * A guest's lock on the bytes of its entry in the segment's file, by which a host of format 1 sees
 * that the guest is alive. Format 1 has no room for a mutex, and a guest that walks in has neither
 * a bell nor a parent. A lock is not part of the segment's bytes, so foreign peers do not notice
 * it.
 *
 * <p>The lock belongs to the open file description (fcntl(2)), which the guest's descriptor and its
 * mapping keep open. So if it is gone and the guest has not released it, the kernel has removed
 * both, and nothing writes to the entry any more, not even a child forked meanwhile.
 */
// r[impl shm.crash.stranger]
final class EntryLock {
  private static final System.Logger LOG = System.getLogger(EntryLock.class.getName());

  private final Sys sys;
  private final Segment segment;
  private final FileLocks.Range entry;
  private boolean taken;

  EntryLock(Segment segment, int peer) {
    this.sys = segment.sys();
    this.segment = segment;
    this.entry = new FileLocks.Range(segment.layout().entry(peer), segment.layout().entryBytes());
  }

  /**
   * Takes the lock, as a guest. Where the kernel refuses, the guest's death will not be noticed.
   */
  void take() {
    try {
      taken = FileLocks.tryLock(sys, segment.descriptor(), entry, FileLocks.Mode.EXCLUSIVE);
    } catch (ErrnoException e) {
      LOG.log(Level.DEBUG, "the host will not notice if this guest dies", e);
    }
  }

  /**
   * Releases the lock, as a guest; if the segment is already closed, the lock goes with the
   * mapping.
   */
  void giveBack() throws ErrnoException {
    if (taken && !segment.isClosed()) {
      FileLocks.unlock(sys, segment.descriptor(), entry);
    }
  }

  /** Whether a guest holds the lock; for the host. */
  boolean isHeld() throws ErrnoException {
    return FileLocks.isLocked(sys, segment.descriptor(), entry);
  }
}
