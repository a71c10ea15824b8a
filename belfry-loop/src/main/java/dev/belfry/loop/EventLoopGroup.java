package dev.belfry.loop;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Several loops, each on a thread of its own. Work may be given to them before {@link #start}, but
 * waits for it: until then no operation completes, and {@link Operation#await} blocks.
 *
 * {@snippet :
 * try (EventLoopGroup group = EventLoopGroup.open(4, LoopOptions.DEFAULT)) {
 *   group.start();
 *   group.next().scheduler().execute(() -> System.out.println("on a loop"));
 * }
 * }
 */
public final class EventLoopGroup implements AutoCloseable {
  private static final Duration SHORTEST_THRESHOLD = Duration.ofMillis(1);

  private final List<EventLoop> loops;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicInteger turn = new AtomicInteger();
  private @Nullable Watchdog watchdog;
  private boolean closed;

  private EventLoopGroup(List<EventLoop> loops) {
    this.loops = List.copyOf(loops);
  }

  /** Opens the loops of a group; no thread drives them yet. */
  public static EventLoopGroup open(int size, LoopOptions options) throws IOException {
    if (size < 1) {
      throw new IllegalArgumentException("a group has at least one loop, not " + size);
    }
    var loops = new ArrayList<EventLoop>();
    try {
      for (int i = 0; i < size; i++) {
        loops.add(EventLoop.open(options));
      }
      return new EventLoopGroup(loops);
    } catch (IOException | RuntimeException | Error e) { // such as an OutOfMemoryError
      loops.forEach(EventLoop::close);
      throw e;
    }
  }

  /** Starts the threads. */
  public void start() {
    start(SignalSet.of());
  }

  /** Starts the threads, each with these signals blocked before its loop runs. */
  // r[impl sig.mask.group]
  public synchronized void start(SignalSet blocked) {
    if (closed || !threads.isEmpty()) {
      throw new IllegalStateException(closed ? "the group is closed" : "the group was started");
    }
    SignalSet signals = SignalSet.of(blocked.toSigSet()); // a copy, because sets are mutable
    for (int i = 0; i < loops.size(); i++) {
      EventLoop loop = loops.get(i);
      threads.add(Thread.ofPlatform().name("belfry-loop-" + i).start(() -> drive(loop, signals)));
    }
  }

  private static void drive(EventLoop loop, SignalSet blocked) {
    try (loop) { // also if it fails, so that nobody waits for it forever
      blocked.blockInThisThread();
      loop.run();
    } catch (IOException e) {
      throw new IllegalStateException("the " + loop + " failed", e);
    } catch (IllegalStateException e) {
      if (!loop.isStopRequested()) { // else the loop was closed before this thread could drive it
        throw e;
      }
    }
  }

  /**
   * Starts a watchdog thread. It logs, once each, every callback or coroutine that keeps a loop
   * busy for longer than the threshold, with its name and stack trace.
   *
   * @param threshold at least a millisecond
   */
  public synchronized void watch(Duration threshold) {
    if (threshold.compareTo(SHORTEST_THRESHOLD) < 0) {
      throw new IllegalArgumentException("a threshold is at least 1 ms, not " + threshold);
    }
    if (closed || watchdog != null) {
      throw new IllegalStateException(closed ? "the group is closed" : "the group is watched");
    }
    watchdog = Watchdog.start(loops, threshold);
  }

  /** The loops. */
  public List<EventLoop> loops() {
    return loops;
  }

  /** The next loop, round-robin. */
  public EventLoop next() {
    return loops.get(Math.floorMod(turn.getAndIncrement(), loops.size()));
  }

  /**
   * Stops all loops, waits for their threads to end, and releases their resources.
   *
   * @throws IllegalStateException on a thread of the group, or in a coroutine of its loops
   */
  @Override
  public void close() {
    if (loops.stream().anyMatch(EventLoop::waitsForCaller)) {
      throw new IllegalStateException("a group is closed from outside: it waits for its threads");
    }
    synchronized (this) {
      closed = true;
      if (watchdog != null) {
        watchdog.close();
      }
    }
    loops.forEach(EventLoop::requestStop);
    threads.forEach(Joining::awaitEnd);
    loops.forEach(EventLoop::close);
  }
}
