package dev.belfry.linux;

import static dev.belfry.linux.Errno.EINTR;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.concurrent.TimeUnit;

/**
 * Waits for a few descriptors without an event loop ({@code poll(2)}), an array of:
 *
 * <pre>{@code
 * struct pollfd { int fd; short events; short revents; };
 * }</pre>
 *
 * For one thread. Only the constructor allocates. A wait blocks its thread in the kernel: not for
 * virtual threads.
 */
public final class PollSet {
  public static final int IN = 0x001;
  public static final int OUT = 0x004;
  public static final int ERR = 0x008;
  public static final int HUP = 0x010;
  public static final int NVAL = 0x020;
  public static final int RDHUP = 0x2000;

  static final StructLayout LAYOUT =
      MemoryLayout.structLayout(
          JAVA_INT.withName("fd"), JAVA_SHORT.withName("events"), JAVA_SHORT.withName("revents"));

  private static final int SHORT_MILLIS = 200;

  private static final long POLLFD_BYTES = LAYOUT.byteSize();
  private static final long FD = LAYOUT.byteOffset(PathElement.groupElement("fd"));
  private static final long EVENTS = LAYOUT.byteOffset(PathElement.groupElement("events"));
  private static final long REVENTS = LAYOUT.byteOffset(PathElement.groupElement("revents"));

  private final Sys sys;
  private final int count;
  private final MemorySegment pollFds;
  private final MemorySegment timeout;

  /** Allocates room for exactly {@code count} descriptors. */
  public PollSet(Sys sys, int count) {
    this.sys = sys;
    this.count = count;
    Arena arena = Arena.ofAuto();
    this.pollFds = arena.allocate(LAYOUT, count);
    this.timeout = Timespec.allocate(arena);
  }

  /** Sets the descriptor at an index and its events; -1 for none. */
  public void set(int index, int fd, int events) {
    pollFds.set(JAVA_INT, index * POLLFD_BYTES + FD, fd);
    pollFds.set(JAVA_SHORT, index * POLLFD_BYTES + EVENTS, (short) events);
  }

  /** The events of a descriptor in the last wait; ERR, HUP and NVAL are always reported. */
  public int happened(int index) {
    return pollFds.get(JAVA_SHORT, index * POLLFD_BYTES + REVENTS);
  }

  /**
   * Waits until something happens. An interrupted wait is resumed for the remaining time. Time
   * during which the process is stopped counts too, except in the last fifth of a second.
   *
   * @param deadlineNanos a time of {@link System#nanoTime}, or {@link Futex#FOREVER}
   * @return the number of descriptors with events, zero if the deadline has passed, or {@code
   *     -errno}
   */
  public int await(long deadlineNanos) {
    if (deadlineNanos == Futex.FOREVER) {
      return awaitShortly(deadlineNanos);
    }
    int result;
    do {
      long millis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
      if (millis < SHORT_MILLIS) {
        return awaitShortly(deadlineNanos);
      }
      result = sys.poll(pollFds, count, (int) Math.min(millis, Integer.MAX_VALUE));
    } while (result == 0 || result == -EINTR);
    return result;
  }

  /**
   * Waits to the nanosecond. But when a stopped process continues, ppoll sleeps again for all the
   * time that was left when it was stopped; poll, in milliseconds, goes by the clock.
   */
  private int awaitShortly(long deadlineNanos) {
    int result;
    do {
      MemorySegment limit = MemorySegment.NULL;
      if (deadlineNanos != Futex.FOREVER) {
        Timespec.set(timeout, Math.max(0, deadlineNanos - System.nanoTime()));
        limit = timeout;
      }
      result = sys.ppoll(pollFds, count, limit, MemorySegment.NULL);
    } while (result == -EINTR);
    return result;
  }
}
