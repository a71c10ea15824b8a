package dev.belfry.shm;

/** The heartbeat of a guest, as its host sees it. For the loop thread. */
// r[impl shm.crash.heartbeat]
final class Heartbeat {
  private final Memory memory;
  private final long address;
  private final long interval;
  private long attachedNanos;
  private boolean stuck;

  Heartbeat(Segment segment, int peer) {
    this.memory = segment.memory();
    this.address = memory.address(segment.layout().heartbeat(peer), Long.BYTES);
    this.interval = segment.config().heartbeatIntervalNanos();
  }

  /** The guest was seen to attach; its first beat came with that. */
  void begin() {
    attachedNanos = System.nanoTime();
  }

  /** True once each time that the guest gets stuck. */
  boolean hasGotStuck() {
    if (interval == 0) {
      return false;
    }
    boolean before = stuck;
    long last = memory.getLongAcquire(address);
    stuck = isStale(last, attachedNanos, System.nanoTime(), interval);
    return stuck && !before;
  }

  /** Whether more than two intervals have passed since the last beat, and since the attach. */
  static boolean isStale(long lastBeat, long attached, long now, long interval) {
    long since = lastBeat == 0 || lastBeat - attached < 0 ? attached : lastBeat;
    return now - since > 2 * interval;
  }
}
