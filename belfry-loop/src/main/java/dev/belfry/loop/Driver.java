package dev.belfry.loop;

import static java.lang.System.Logger.Level.INFO;

import dev.belfry.linux.ErrnoException;

/**
 * The implementation of a {@link Backend} for a loop. Everything but {@link #wake} is called on the
 * loop thread. A driver may complete an operation within {@code start} or much later, and completes
 * it exactly once.
 */
// r[impl loop.backend.surface]
interface Driver extends AutoCloseable {
  /** A deadline that has always passed: do not wait. */
  long NOW = Long.MIN_VALUE;

  /** A deadline that never comes. */
  long FOREVER = Long.MAX_VALUE;

  /** The longest timeout given to the kernel, a year; a longer wait just goes another round. */
  long LONGEST_NANOS = 365L * 24 * 3600 * 1_000_000_000;

  /** The timeout for a deadline other than {@link #FOREVER}, in nanoseconds. */
  static long timeLeft(long deadline) {
    return Math.clamp(deadline - System.nanoTime(), 0, LONGEST_NANOS);
  }

  /** Opens the driver that the options of a loop ask for. */
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

  /** The backend it implements. */
  Backend backend();

  /** Begins an operation on an open handle. */
  void start(IoOperation<?> operation);

  /** Cancels an operation that has not completed; it completes as stopped, now or soon. */
  void cancel(IoOperation<?> operation);

  /**
   * Makes the system calls of started writes that were not attempted yet, until one would have to
   * wait. The handle's share of the turn does not matter.
   */
  void flush(Handle handle);

  /** Completes the handle's waiting operations as stopped, unregisters the handle and closes it. */
  void close(Handle handle);

  /** Continues with a handle that had used up its share of an earlier turn. */
  void resume(Handle handle);

  /** Begins to wait for a word of memory. */
  void start(FutexOperation operation);

  /** Cancels a wait for a word of memory; it completes as stopped, unless it is already over. */
  void cancel(FutexOperation operation);

  /** Begins to open a file without blocking the loop thread; false if that is impossible. */
  default boolean open(OpenOperation operation) {
    return false;
  }

  /** Cancels the opening of a file. */
  default void cancel(OpenOperation operation) {
    throw new IllegalStateException("opening a file is over when it has begun");
  }

  /** The calling thread drives the loop exclusively until it leaves. */
  default void threadStays() throws ErrnoException {}

  /** The calling thread no longer drives the loop exclusively. */
  default void threadLeaves() {}

  /** Cancels everything in flight, because the loop ends. */
  void cancelAll();

  /**
   * Gets back what the kernel and other threads still hold, which is something only if the last
   * turn failed. What they have ended meanwhile is posted when this returns.
   */
  void takeBack();

  /**
   * Waits for events, until the deadline at the latest, and handles them.
   *
   * @param deadline on the clock of {@link System#nanoTime}, {@link #NOW} or {@link #FOREVER}
   * @return the number of events
   */
  int poll(long deadline) throws ErrnoException;

  /**
   * Ends the current wait, or the next one. Any thread.
   *
   * @return zero or more, or {@code -errno}; {@code -EAGAIN} means that a wake-up is pending
   *     already
   */
  long wake();

  @Override
  void close();
}
