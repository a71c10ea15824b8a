package dev.belfry.shm;

/** The heartbeat of a guest, as its host sees it. Confined to the loop thread. */
// r[impl shm.crash.heartbeat]
final class Heartbeat {
  /** A host that has not looked for this long was held up: it looks twenty times a second. */
  private static final long LONG_NANOS = 1_000_000_000;

  private final Memory memory;
  private final long address;
  private final long interval;

  /** The time since which the guest could have shown that it is alive. */
  private long sinceNanos;

  private long lookedNanos;
  private boolean stuck;

  Heartbeat(Segment segment, int peer) {
    this.memory = segment.memory();
    this.address = memory.address(segment.layout().heartbeat(peer), Long.BYTES);
    this.interval = segment.config().heartbeatIntervalNanos();
  }

  /** Called when the guest is seen to have attached; its first heartbeat came with that. */
  void begin(long now) {
    sinceNanos = now;
    lookedNanos = now;
  }

  /** Returns true once each time the guest gets stuck. */
  boolean hasGotStuck(long now) {
    if (interval == 0) {
      return false;
    }
    if (now - lookedNanos > Math.max(interval, LONG_NANOS)) {
      sinceNanos = now; // what stopped us, such as a freezer, may have stopped the guest too
    }
    lookedNanos = now;
    boolean before = stuck;
    long last = memory.getLongAcquire(address);
    stuck = isStale(last, sinceNanos, now, interval);
    return stuck && !before;
  }

  /**
   * Whether more than two intervals have passed since the last heartbeat, and since the guest could
   * have sent one.
   */
  static boolean isStale(long lastBeat, long since, long now, long interval) {
    long last = lastBeat == 0 || lastBeat - since < 0 ? since : lastBeat;
    return now - last - interval > interval; // twice the interval might overflow
  }
}
