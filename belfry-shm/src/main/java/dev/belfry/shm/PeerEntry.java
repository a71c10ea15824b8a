package dev.belfry.shm;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.RobustMutex;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** The entry of one guest in the segment, as its host sees it, for the epoch of that guest. */
final class PeerEntry {
  private static final System.Logger LOG = System.getLogger(PeerEntry.class.getName());

  private final Segment segment;
  private final PeerTable peers;
  private final int id;
  private final int epoch;
  private final @Nullable RobustMutex mutex;
  private final EntryLock lock;

  PeerEntry(Segment segment, int id) {
    this.segment = segment;
    this.peers = segment.peers();
    this.id = id;
    this.epoch = peers.epoch(id);
    SegmentLayout layout = segment.layout();
    this.mutex =
        layout.isPadded()
            ? Segment.mutex(segment.sys(), segment.memory().mapping(), layout, id)
            : null;
    this.lock = new EntryLock(segment, id);
  }

  /** The mutex that the guest holds; null in format 1, which has no room for one. */
  @Nullable RobustMutex mutex() {
    return mutex;
  }

  /** The lock that the guest may hold where there is no mutex. */
  EntryLock lock() {
    return lock;
  }

  boolean isIn(PeerState state) {
    return peers.isIn(id, state, epoch);
  }

  /** Gives up the guest, whatever it has written over its state. */
  void giveUp() {
    write(() -> peers.giveUp(id, epoch));
  }

  /** Frees the entry of a guest that is gone; from then on another guest may take it. */
  void recover() {
    write(
        () -> {
          if (mutex != null) {
            mutex.initialise();
          }
          peers.giveUp(id, epoch);
          peers.recover(id);
        });
  }

  /** Releases an entry for which no guest was started. */
  void release() {
    write(
        () -> {
          if (!peers.release(id)) {
            LOG.log(Level.DEBUG, "entry {0} was claimed by somebody with an old ticket", id);
          }
        });
  }

  /** A change of the entry. */
  private interface Change {
    void make() throws ErrnoException;
  }

  /**
   * Makes a change. If the segment was truncated, the entry will never be used again, and the
   * clean-up of the guest goes on.
   */
  private void write(Change change) {
    try {
      segment.checkIntact(); // in truncated memory the C library would crash the JVM
      change.make();
    } catch (ErrnoException | SegmentLost e) {
      LOG.log(Level.ERROR, "entry " + id + " cannot be used again", e);
    } catch (InternalError fault) {
      LOG.log(Level.ERROR, "entry " + id + " cannot be used again", segment.lost(fault));
    }
  }
}
