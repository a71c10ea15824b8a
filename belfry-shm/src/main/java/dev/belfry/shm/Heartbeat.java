package dev.belfry.shm;

/** The heartbeat of a guest, as its host sees it. For the loop thread. */
// r[impl shm.crash.heartbeat]
final class Heartbeat {
  /** A host that has not looked for this long was kept from it: it looks twenty times a second. */
  private static final long LONG_NANOS = 1_000_000_000;

  private final Memory memory;
  private final long address;
  private final long interval;

  /** Since when the guest could have shown that it lives. */
  private long sinceNanos;

  private long lookedNanos;
  private boolean stuck;

  Heartbeat(Segment segment, int peer) {
    this.memory = segment.memory();
    this.address = memory.address(segment.layout().heartbeat(peer), Long.BYTES);
    this.interval = segment.config().heartbeatIntervalNanos();
  }

  /** The guest was seen to attach; its first beat came with that. */
  void begin(long now) {
    sinceNanos = now;
    lookedNanos = now;
  }

  /** True once each time that the guest gets stuck. */
  boolean hasGotStuck(long now) {
    if (interval == 0) {
      return false;
    }
    if (now - lookedNanos > Math.max(interval, LONG_NANOS)) {
      sinceNanos = now; // whatever stopped us, such as a freezer, may have stopped the guest too
    }
    lookedNanos = now;
    boolean before = stuck;
    long last = memory.getLongAcquire(address);
    stuck = isStale(last, sinceNanos, now, interval);
    return stuck && !before;
  }

  /** Whether more than two intervals have passed since the last beat, and since it could beat. */
  static boolean isStale(long lastBeat, long since, long now, long interval) {
    long last = lastBeat == 0 || lastBeat - since < 0 ? since : lastBeat;
    return now - last - interval > interval; // twice the longest would be negative
  }
}
