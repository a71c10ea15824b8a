package dev.belfry.loop;

import static java.lang.System.Logger.Level.INFO;

import dev.belfry.linux.ErrnoException;

/**
 * What a {@link Backend} does for a loop. All but {@link #wake} happens on the loop thread. A
 * driver may complete an operation in {@code start} or much later; it completes each exactly once.
 */
// r[impl loop.backend.surface]
interface Driver extends AutoCloseable {
  /** A deadline that has always passed: do not wait at all. */
  long NOW = Long.MIN_VALUE;

  /** A deadline that never comes. */
  long FOREVER = Long.MAX_VALUE;

  /** The longest time-out the kernel is given, a year; a longer wait just comes round again. */
  long LONGEST_NANOS = 365L * 24 * 3600 * 1_000_000_000;

  /**
   * How long the kernel is to wait for a deadline, in nanoseconds; not for one that never comes.
   */
  static long timeLeft(long deadline) {
    return Math.clamp(deadline - System.nanoTime(), 0, LONGEST_NANOS);
  }

  /** Opens what the options of a loop ask for. */
  static Driver openFor(LoopCore loop) throws ErrnoException {
    LoopOptions options = loop.options;
    if (options.backend() == Backend.IO_URING) {
      return UringDriver.open(loop);
    }
    if (options.prefersIoUring()) {
      try {
        return UringDriver.open(loop);
      } catch (ErrnoException refused) {
        System.getLogger(EventLoop.class.getName())
            .log(INFO, "the loop runs on epoll, because {0}", refused.getMessage());
      }
    }
    return EpollDriver.open(loop, options.backend());
  }

  /** The backend it stands for. */
  Backend backend();

  /** Begins an operation on a handle that is open. */
  void start(IoOperation<?> operation);

  /** Withdraws an operation that has not completed; it completes as stopped, now or soon. */
  void cancel(IoOperation<?> operation);

  /**
   * Makes the calls of writes that were started and have not been tried yet, until one would have
   * to wait; whatever the handle has had of this turn.
   */
  void flush(Handle handle);

  /** Completes what waits on the handle as stopped, forgets the handle and closes it. */
  void close(Handle handle);

  /** Continues with a handle that had used up its share of an earlier turn. */
  void resume(Handle handle);

  /** Begins to wait for a word of memory. */
  void start(FutexOperation operation);

  /** Withdraws a wait for a word of memory; it completes as stopped, unless it is already over. */
  void cancel(FutexOperation operation);

  /** Begins to open a file, if that can be done without the loop thread; false if it cannot. */
  default boolean open(OpenOperation operation) {
    return false;
  }

  /** Withdraws the opening of a file that has begun. */
  default void cancel(OpenOperation operation) {
    throw new IllegalStateException("opening a file is over when it has begun");
  }

  /** The calling thread drives the loop now, and no other does until it leaves. */
  default void threadStays() throws ErrnoException {}

  /** The calling thread stays no longer. */
  default void threadLeaves() {}

  /** Withdraws everything that is in flight, because the loop ends. */
  void cancelAll();

  /** Gets back what the kernel still has of that, which it has if the last turn failed. */
  void takeBack();

  /**
   * Waits for something to happen, until a time at the latest, and deals with it.
   *
   * @param deadline on the clock of {@link System#nanoTime}, {@link #NOW} or {@link #FOREVER}
   * @return how many events there were
   */
  int poll(long deadline) throws ErrnoException;

  /**
   * Ends a wait that is going on, or the next one. Any thread.
   *
   * @return zero or more, or {@code -errno}; with {@code -EAGAIN} it is ended too
   */
  long wake();

  @Override
  void close();
}
