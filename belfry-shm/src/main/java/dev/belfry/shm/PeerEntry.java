package dev.belfry.shm;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.RobustMutex;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** The entry of one guest in the segment, as its host sees it, in the epoch of that guest. */
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

  /** The mutex that the guest holds; null where there is no room for one. */
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

  /** Gives the guest up, whatever it has written over its state. */
  void giveUp() {
    write(() -> peers.giveUp(id, epoch));
  }

  /** Frees the entry of a guest that is gone: from then on it may be another's. */
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

  /** Gives back an entry for which nobody was started. */
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

  /** If the segment was cut, then nobody will use the entry again, and the guest's end goes on. */
  private void write(Change change) {
    try {
      segment.checkIntact(); // in memory that was cut away the C library would fault
      change.make();
    } catch (ErrnoException | SegmentLost e) {
      LOG.log(Level.ERROR, "entry " + id + " cannot be used again", e);
    } catch (InternalError fault) {
      LOG.log(Level.ERROR, "entry " + id + " cannot be used again", segment.lost(fault));
    }
  }
}
