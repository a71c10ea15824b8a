package dev.belfry.loop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;

/**
 * The counters of a loop. They are always on: the loop thread writes plain counters and reads the
 * clock for one task in {@value #SAMPLE}. Any thread may read them; figures read together may be
 * from different instants.
 */
public final class LoopMetrics {
  private static final VarHandle TURNS = field("turns", long.class);
  private static final VarHandle IDLE_POLLS = field("idlePolls", long.class);
  private static final VarHandle EVENTS = field("events", long.class);
  private static final VarHandle POSTED = field("posted", long.class);
  private static final VarHandle POSTPONED = field("acceptsPostponed", long.class);
  private static final VarHandle DEPTH = field("maxQueueDepth", int.class);

  private static final int SAMPLE = 64;
  private static final long NOT_MEASURED = Long.MIN_VALUE;

  // Written by the loop thread only.
  private long turns;
  private long idlePolls;
  private long events;
  private long posted;
  private long acceptsPostponed;
  private int maxQueueDepth;
  private int untilSample = SAMPLE;
  private volatile boolean asleep = true;

  private final LongAdder wakeUps = new LongAdder();

  /** The wake-ups that posts have made; the others are made by stop requests and the like. */
  private final LongAdder postsThatWoke = new LongAdder();

  private final LatencyHistogram timerLag = new LatencyHistogram();
  private final LatencyHistogram taskTime = new LatencyHistogram();

  LoopMetrics() {}

  /** The number of turns the loop has made. */
  public long turns() {
    return (long) TURNS.getOpaque(this);
  }

  /** The number of events the kernel has reported, wake-ups included. */
  public long events() {
    return (long) EVENTS.getOpaque(this);
  }

  /** The number of tasks and operations that came from other threads. */
  public long posted() {
    return (long) POSTED.getOpaque(this);
  }

  /** The number of system calls made to wake the loop. */
  public long wakeUpsSent() {
    return wakeUps.sum();
  }

  /** The number of posts that needed no wake-up, because the loop was awake or about to wake. */
  public long wakeUpsSaved() {
    return Math.max(0, posted() - postsThatWoke.sum());
  }

  /** The number of accepts postponed for lack of descriptors or memory. */
  public long acceptsPostponed() {
    return (long) POSTPONED.getOpaque(this);
  }

  /** The longest the work queue has been when the loop began to work through it. */
  public int maxQueueDepth() {
    return (int) DEPTH.getOpaque(this);
  }

  /** How late timers fired, in nanoseconds. */
  public LatencyHistogram timerLag() {
    return timerLag;
  }

  /** How long callbacks and coroutines kept the loop, in nanoseconds; one in {@value #SAMPLE}. */
  public LatencyHistogram taskTime() {
    return taskTime;
  }

  void turnEnded(int eventCount) {
    TURNS.setOpaque(this, turns + 1);
    EVENTS.setOpaque(this, events + eventCount);
  }

  void polledInVain() {
    IDLE_POLLS.setOpaque(this, idlePolls + 1);
  }

  /** Grows with every turn, and within a turn while the loop polls for events. */
  long progress() {
    return turns() + (long) IDLE_POLLS.getOpaque(this);
  }

  void posted(int count) {
    POSTED.setOpaque(this, posted + count);
  }

  void queueDepth(int depth) {
    if (depth > maxQueueDepth) {
      DEPTH.setOpaque(this, depth);
    }
  }

  void acceptPostponed() {
    POSTPONED.setOpaque(this, acceptsPostponed + 1);
  }

  void wakeUpSent() {
    wakeUps.increment();
  }

  void postWoke() {
    postsThatWoke.increment();
  }

  void timerLag(long nanos) {
    timerLag.record(nanos);
  }

  long taskBegins() {
    if (--untilSample > 0) {
      return NOT_MEASURED;
    }
    untilSample = SAMPLE;
    return System.nanoTime();
  }

  void taskEnded(long began) {
    if (began != NOT_MEASURED) {
      taskTime.record(System.nanoTime() - began);
    }
  }

  void asleep(boolean now) {
    asleep = now;
  }

  /** Whether the loop waits for the kernel, or no thread drives it. */
  boolean isAsleep() {
    return asleep;
  }

  private static VarHandle field(String name, Class<?> type) {
    return FieldHandle.of(MethodHandles.lookup(), name, type);
  }
}
