package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;
import static dev.belfry.linux.Errno.EINTR;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A counter that wakes the thread waiting on its descriptor ({@code eventfd(2)}); never blocks. */
public final class EventFd implements AutoCloseable {
  private static final int EFD_CLOEXEC = 0x80000;
  private static final int EFD_NONBLOCK = 0x800;

  private final Sys sys;
  private final Fd fd;

  /** Always 1, so that any thread may pass it to the kernel. */
  private final MemorySegment one;

  private final MemorySegment counter;

  private EventFd(Sys sys, Fd fd) {
    this.sys = sys;
    this.fd = fd;
    Arena arena = Arena.ofAuto();
    this.one = arena.allocateFrom(ValueLayout.JAVA_LONG, 1L);
    this.counter = arena.allocate(ValueLayout.JAVA_LONG);
  }

  /**
   * Creates a counter at zero.
   *
   * @param sys must be for any thread if threads other than the owner call {@link #signal}
   */
  public static EventFd create(Sys sys) throws ErrnoException {
    int number = call("eventfd", "", () -> sys.eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return new EventFd(sys, Fd.own(sys, number, "eventfd"));
  }

  /** The descriptor to watch. */
  public int number() {
    return fd.number();
  }

  /**
   * Adds one and wakes the waiter. Any thread may call this. Allocates nothing.
   *
   * @return zero or more, or {@code -errno}; {@code -EAGAIN} means the counter is full, so a
   *     wake-up is pending
   */
  public long signal() {
    long result;
    do {
      result = sys.write(fd.number(), one, Long.BYTES);
    } while (result == -EINTR);
    return result;
  }

  /** Resets the counter to zero; returns its old value, or {@code -EAGAIN} if it was zero. */
  public long reset() {
    long result;
    do {
      result = sys.read(fd.number(), counter, Long.BYTES);
    } while (result == -EINTR);
    return result < 0 ? result : counter.get(ValueLayout.JAVA_LONG, 0);
  }

  @Override
  public void close() {
    fd.close();
  }
}
