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
 * The options of a pool. Each method changes this object and returns it. A pool keeps the values it
 * was opened with.
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

  /**
   * Differences from the environment of this process; null for a variable that is not passed on.
   */
  Map<String, @Nullable String> environment = new TreeMap<>();

  PoolListener listener = new PoolListener() {};

  private PoolOptions(List<String> command) {
    if (command.isEmpty()) {
      throw new IllegalArgumentException("a worker's command has at least a program");
    }
    this.command = List.copyOf(command);
  }

  /** Workers are any program that speaks the protocol, in any language. */
  public static PoolOptions of(String... command) {
    return new PoolOptions(List.of(command));
  }

  /** Workers are any program that speaks the protocol, in any language. */
  public static PoolOptions of(List<String> command) {
    return new PoolOptions(command);
  }

  /** Workers are written in Java, as {@link JavaWorker} describes. */
  public static PoolOptions of(JavaWorker worker) {
    return of(worker.command());
  }

  /** The name of workers, to which a number is appended; by default {@code worker}. */
  public PoolOptions name(String text) {
    name = text;
    return this;
  }

  /** How many workers take calls; 2 by default. */
  public PoolOptions workers(int count) {
    workers = atLeast(1, count, "workers");
    return this;
  }

  /** How many more stand by to take the place of a worker that dies; by default 1. */
  public PoolOptions spares(int count) {
    spares = atLeast(0, count, "spares");
    return this;
  }

  /** How many calls a worker may have in flight; by default 64. */
  public PoolOptions callsPerWorker(int count) {
    callsPerWorker = atLeast(1, count, "calls per worker");
    if (count > MAX_CALLS) {
      throw new IllegalArgumentException(
          "calls per worker: at most %d, not %d".formatted(MAX_CALLS, count));
    }
    return this;
  }

  /** How many workers may die of a call before it is given up; by default 3. */
  public PoolOptions attempts(int count) {
    attempts = atLeast(1, count, "attempts");
    return this;
  }

  /**
   * After how many early deaths in a row no more workers are started; by default 5. A death is
   * early if the worker had neither finished a call nor served for a second.
   */
  public PoolOptions crashLimit(int count) {
    crashLimit = atLeast(1, count, "crash limit");
    return this;
  }

  /**
   * How long to wait before replacing a worker that died early; doubled for each further one in a
   * row. By default 100 ms at first and at most 10 seconds.
   */
  public PoolOptions restartDelay(Duration first, Duration longest) {
    firstDelay = positive(first, "first delay");
    longestDelay = positive(longest, "longest delay");
    return this;
  }

  /** How long a worker may take to become ready; by default 30 seconds. */
  public PoolOptions readyLimit(Duration limit) {
    readyLimit = positive(limit, "ready limit");
    return this;
  }

  /**
   * How long a worker may carry on with a call that was given up before it is killed as stuck; by
   * default one second.
   */
  public PoolOptions stuckLimit(Duration limit) {
    stuckLimit = positive(limit, "stuck limit");
    return this;
  }

  /**
   * After about how many calls a worker is replaced; varied, so that not all are replaced at once.
   * By default never.
   */
  public PoolOptions recycleAfterCalls(long calls) {
    if (calls < 1) {
      throw new IllegalArgumentException("recycle after at least one call, not " + calls);
    }
    recycleCalls = calls;
    return this;
  }

  /** How long after becoming ready a worker is replaced; never by default. */
  public PoolOptions recycleAfter(Duration age) {
    recycleAge = positive(age, "recycle after");
    return this;
  }

  /**
   * How often a worker shows that it is alive; by default every 5 seconds, zero for never. A worker
   * that misses two intervals is killed, so make them longer than its longest garbage-collection
   * pause.
   */
  public PoolOptions heartbeat(Duration interval) {
    if (interval.isNegative()) {
      throw new IllegalArgumentException("heartbeat: not before zero, as " + interval);
    }
    heartbeat = interval;
    return this;
  }

  /** The layout of the shared memory; padded by default. */
  public PoolOptions placement(Placement laidOut) {
    placement = laidOut;
    return this;
  }

  /** How callers wait; adaptively by default. */
  public PoolOptions waiting(WaitStrategy how) {
    strategy = how;
    return this;
  }

  /** The working directory of workers; that of this process by default. */
  public PoolOptions directory(Path path) {
    directory = path;
    return this;
  }

  /**
   * Where to look for the {@code hs_err} files of workers that are JVMs, if they are neither where
   * {@code -XX:ErrorFile} in the command says, nor in the working directory, nor in {@code /tmp}.
   */
  public PoolOptions crashFilesIn(Path path) {
    crashDirectory = path;
    return this;
  }

  /** Sets an environment variable of workers, which otherwise inherit those of this process. */
  public PoolOptions environment(String variable, String value) {
    environment.put(named(variable), value);
    return this;
  }

  /** Keeps a variable of this process from its workers, which otherwise inherit them all. */
  public PoolOptions withoutEnvironment(String variable) {
    environment.put(named(variable), null);
    return this;
  }

  /** What is told of ready workers, deaths and output; by default it writes to the log. */
  public PoolOptions listener(PoolListener told) {
    listener = told;
    return this;
  }

  /** A copy for a pool, since this object may still change. */
  PoolOptions copy() {
    try {
      var copy = (PoolOptions) clone();
      copy.environment = new TreeMap<>(environment);
      return copy;
    } catch (CloneNotSupportedException e) {
      throw new AssertionError("it says that it can be cloned", e);
    }
  }

  /**
   * Refuses a {@code =}: what follows it would become part of the value, and an inherited variable
   * would stay.
   */
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
