package dev.belfry.workers;

import dev.belfry.shm.Placement;
import dev.belfry.shm.WaitStrategy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How a pool is made. Each method changes this object and returns it; a pool goes by what it was
 * opened with.
 *
 * {@snippet :
 * PoolOptions options = PoolOptions.of(JavaWorker.of(Resizer.class)).workers(4).spares(2);
 * }
 */
public final class PoolOptions implements Cloneable {
  /** More would need rings of many megabytes. */
  private static final int MAX_CALLS = 1 << 14;

  final List<String> command;
  String name = "worker";
  int workers = 2;
  int spares = 1;
  int callsPerWorker = 64;
  int attempts = 3;
  int crashLimit = 5;
  Duration firstDelay = Duration.ofMillis(100);
  Duration longestDelay = Duration.ofSeconds(10);
  Duration readyLimit = Duration.ofSeconds(30);
  Duration stuckLimit = Duration.ofSeconds(1);
  long recycleCalls = Long.MAX_VALUE;
  @Nullable Duration recycleAge;
  Duration heartbeat = Duration.ofSeconds(5);
  Placement placement = Placement.PADDED;
  WaitStrategy strategy = WaitStrategy.ADAPTIVE;
  @Nullable Path directory;
  @Nullable Path crashDirectory;

  /** What differs from the environment of this process; null for what is not handed on. */
  Map<String, @Nullable String> environment = new TreeMap<>();

  PoolListener listener = new PoolListener() {};

  private PoolOptions(List<String> command) {
    if (command.isEmpty()) {
      throw new IllegalArgumentException("a worker's command has at least a program");
    }
    this.command = List.copyOf(command);
  }

  /** Workers can be any program that speaks the protocol, in Java, C or whatever. */
  public static PoolOptions of(String... command) {
    return new PoolOptions(List.of(command));
  }

  /** Workers can be any program that speaks the protocol. */
  public static PoolOptions of(List<String> command) {
    return new PoolOptions(command);
  }

  /** Workers in Java, as {@link JavaWorker} describes them. */
  public static PoolOptions of(JavaWorker worker) {
    return of(worker.command()).crashFilesIn(worker.crashDirectory());
  }

  /** What workers are called, followed by a number; by default {@code worker}. */
  public PoolOptions name(String text) {
    name = text;
    return this;
  }

  /** How many workers get calls; by default 2. */
  public PoolOptions workers(int count) {
    workers = atLeast(1, count, "workers");
    return this;
  }

  /** How many more are kept ready to take the place of one that dies; by default 1. */
  public PoolOptions spares(int count) {
    spares = atLeast(0, count, "spares");
    return this;
  }

  /** How many calls a worker has at most at a time; by default 64. */
  public PoolOptions callsPerWorker(int count) {
    callsPerWorker = atLeast(1, count, "calls per worker");
    if (count > MAX_CALLS) {
      throw new IllegalArgumentException(
          "calls per worker: at most %d, not %d".formatted(MAX_CALLS, count));
    }
    return this;
  }

  /** To how many workers a call is given at most, when one after the other dies; by default 3. */
  public PoolOptions attempts(int count) {
    attempts = atLeast(1, count, "attempts");
    return this;
  }

  /**
   * After how many deaths in a row, of workers that had done nothing, no more are started; by
   * default 5.
   */
  public PoolOptions crashLimit(int count) {
    crashLimit = atLeast(1, count, "crash limit");
    return this;
  }

  /**
   * How long to wait before starting a worker after one that died having done nothing; twice as
   * long after each more in a row. By default 100 ms first and 10 seconds at the longest.
   */
  public PoolOptions restartDelay(Duration first, Duration longest) {
    firstDelay = positive(first, "first delay");
    longestDelay = positive(longest, "longest delay");
    return this;
  }

  /** How long a worker may take until it is ready; by default 30 seconds. */
  public PoolOptions readyLimit(Duration limit) {
    readyLimit = positive(limit, "ready limit");
    return this;
  }

  /**
   * How long a worker may go on with a call that was given up, before it counts as stuck; by
   * default a second.
   */
  public PoolOptions stuckLimit(Duration limit) {
    stuckLimit = positive(limit, "stuck limit");
    return this;
  }

  /**
   * After about how many calls a worker is replaced, not all workers at the same time; by default
   * never.
   */
  public PoolOptions recycleAfterCalls(long calls) {
    if (calls < 1) {
      throw new IllegalArgumentException("recycle after at least one call, not " + calls);
    }
    recycleCalls = calls;
    return this;
  }

  /** How long after it became ready a worker is replaced; by default never. */
  public PoolOptions recycleAfter(Duration age) {
    recycleAge = positive(age, "recycle after");
    return this;
  }

  /**
   * How often a worker shows that it lives; by default every 5 seconds, zero for never. One that
   * has not done so for two intervals is killed, so make them longer than its longest pause for
   * garbage collection.
   */
  public PoolOptions heartbeat(Duration interval) {
    if (interval.isNegative()) {
      throw new IllegalArgumentException("heartbeat: not before zero, as " + interval);
    }
    heartbeat = interval;
    return this;
  }

  /** How the shared memory is laid out; by default padded. */
  public PoolOptions placement(Placement laidOut) {
    placement = laidOut;
    return this;
  }

  /** How callers wait; by default adaptively. */
  public PoolOptions waiting(WaitStrategy how) {
    strategy = how;
    return this;
  }

  /** The working directory of workers; by default that of this process. */
  public PoolOptions directory(Path path) {
    directory = path;
    return this;
  }

  /**
   * Where workers that are JVMs write what they have to say about their crash; by default where
   * they run.
   */
  public PoolOptions crashFilesIn(Path path) {
    crashDirectory = path;
    return this;
  }

  /** Sets a variable in the environment of workers, which is otherwise that of this process. */
  public PoolOptions environment(String variable, String value) {
    environment.put(named(variable), value);
    return this;
  }

  /** Keeps a variable of this process from its workers, which otherwise get all of them. */
  public PoolOptions withoutEnvironment(String variable) {
    environment.put(named(variable), null);
    return this;
  }

  /** Who is told what happens; by default the log. */
  public PoolOptions listener(PoolListener told) {
    listener = told;
    return this;
  }

  /** The same, for a pool: others may change these. */
  PoolOptions copy() {
    try {
      var copy = (PoolOptions) clone();
      copy.environment = new TreeMap<>(environment);
      return copy;
    } catch (CloneNotSupportedException e) {
      throw new AssertionError("it says that it can be cloned", e);
    }
  }

  /** What follows a {@code =} would be taken for the value, and a variable of ours would stay. */
  private static String named(String variable) {
    if (variable.isEmpty() || variable.indexOf('=') >= 0) {
      throw new IllegalArgumentException(
          "'%s' cannot be the name of a variable".formatted(variable));
    }
    return variable;
  }

  private static Duration positive(Duration value, String what) {
    if (!value.isPositive()) {
      throw new IllegalArgumentException("%s: more than zero, not %s".formatted(what, value));
    }
    return value;
  }

  private static int atLeast(int least, int value, String what) {
    if (value < least) {
      throw new IllegalArgumentException("%s: at least %d, not %d".formatted(what, least, value));
    }
    return value;
  }
}
