package dev.belfry.workers;

import dev.belfry.linux.Sys;
import dev.belfry.shm.ShmGuest;
import dev.belfry.shm.WaitStrategy;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The program of a worker process: its methods, and how calls to them run.
 *
 * {@snippet :
 * static void main(String[] args) throws IOException {
 *   Worker.main(args).on("upper", request -> request.text().toUpperCase(Locale.ROOT).getBytes(UTF_8)).run();
 * }
 * }
 *
 * <p>The pool that starts the process passes the arguments. By default each call runs on a virtual
 * thread of its own. Calls to methods that take only a few microseconds, less than handing them
 * over would, run on the thread that fetches them.
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

  /** Begins a worker, from the arguments of its main method. */
  @SuppressWarnings("IncorrectMainMethod") // it is called by one, and reads as one
  public static Worker main(String[] arguments) {
    return new Worker(arguments);
  }

  /**
   * Adds a method.
   *
   * @param name 1 to 255 bytes in UTF-8; the names of all methods, plus one byte each, have to fit
   *     into one message of 65,596 bytes
   * @throws IllegalArgumentException if the name is not valid, is taken, or has the same number as
   *     another
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
   * Runs calls on this many platform threads, each of which also fetches them. With one, calls run
   * one after the other and cost no thread switch. While all of them are busy, running calls do not
   * learn that they were cancelled.
   */
  public Worker onPlatformThreads(int count) {
    if (count < 1) {
      throw new IllegalArgumentException("at least one thread, not " + count);
    }
    platformThreads = count;
    return this;
  }

  /** Sets how threads wait for calls; by default adaptively. */
  public Worker waiting(WaitStrategy how) {
    strategy = how;
    return this;
  }

  /**
   * Answers calls until the pool says goodbye or is gone, and returns when those in flight are
   * answered.
   *
   * @throws IOException if the process was not started by a pool, or the memory cannot be used
   * @throws IllegalStateException if the names of the methods do not fit into one message
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
