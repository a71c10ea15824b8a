package dev.belfry.workers;

import dev.belfry.linux.Sys;
import dev.belfry.shm.ShmGuest;
import dev.belfry.shm.WaitStrategy;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The program of a worker process: its methods, and the threads on which calls run.
 *
 * {@snippet :
 * static void main(String[] args) throws IOException {
 *   Worker.main(args).on("upper", request -> request.text().toUpperCase(Locale.ROOT).getBytes(UTF_8)).run();
 * }
 * }
 *
 * <p>The arguments are passed by the pool that starts the process. By default each call runs on a
 * virtual thread of its own. While the calls of a method take only a few microseconds, less than
 * such a hand-off, they run on the thread that reads them.
 */
public final class Worker {
  private final String[] arguments;
  private final Map<Long, Method> methods = new LinkedHashMap<>();
  private WaitStrategy strategy = WaitStrategy.ADAPTIVE;
  private int platformThreads;

  /**
   * A method.
   *
   * @param pace how long its calls take
   */
  record Method(String name, MethodHandler handler, Pace pace) {}

  private Worker(String[] arguments) {
    this.arguments = arguments.clone();
    // Always handed over, as the first calls of any other method are: this is the path to rehearse.
    this.methods.put(
        Protocol.REHEARSAL, new Method("(rehearsal)", Request::payload, Pace.neverShort()));
  }

  /** Creates a worker from the arguments of its main method. */
  @SuppressWarnings("IncorrectMainMethod") // called from a main method, and reads like one
  public static Worker main(String[] arguments) {
    return new Worker(arguments);
  }

  /**
   * Adds a method.
   *
   * @param name of 1 to 255 bytes in UTF-8; all names together, each with a byte for its length,
   *     must fit into one message of 65,532 bytes
   * @throws IllegalArgumentException if the name is invalid, or if there is already a method of
   *     that name or with the same number
   */
  public Worker on(String name, MethodHandler handler) {
    Method before =
        methods.putIfAbsent(
            Protocol.methodId(Protocol.checkName(name)), new Method(name, handler, new Pace()));
    if (before != null) {
      throw new IllegalArgumentException(
          before.name().equals(name)
              ? "there are two methods '" + name + "'"
              : "'%s' and '%s' have the same number: rename one".formatted(before.name(), name));
    }
    return this;
  }

  /**
   * Runs calls on this many platform threads, each of which also reads them. With one thread, calls
   * run one after another and without a hand-off. While all threads are busy, cancelled calls go
   * unnoticed.
   */
  public Worker onPlatformThreads(int count) {
    if (count < 1) {
      throw new IllegalArgumentException("at least one thread, not " + count);
    }
    platformThreads = count;
    return this;
  }

  /** How threads wait for calls; adaptively by default. */
  public Worker waiting(WaitStrategy how) {
    strategy = how;
    return this;
  }

  /**
   * Answers calls until the pool says goodbye or is gone, and returns once those in progress have
   * been answered.
   *
   * @throws IOException if the process was not started by a pool, or the shared memory cannot be
   *     used
   * @throws IllegalStateException if the names of all methods do not fit into one message
   */
  public void run() throws IOException {
    try (ShmGuest guest = ShmGuest.attach(Sys.forAnyThread(), arguments, strategy)) {
      var serving = new Serving(guest, Map.copyOf(methods));
      if (platformThreads > 0) {
        serving.runOnPlatformThreads(platformThreads);
      } else {
        serving.runInRelay();
      }
    }
  }
}
