package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A resource limit of this process ({@code getrlimit(2)}). */
public enum ResourceLimit {
  /** The largest core file, in bytes. */
  CORE(4),
  /** One more than the highest descriptor number. */
  DESCRIPTORS(7),
  /** Address space, in bytes. */
  ADDRESS_SPACE(9),
  /** The number of queued signals of this user. */
  PENDING_SIGNALS(11);

  /** No limit. */
  public static final long UNLIMITED = -1;

  private final int number;

  ResourceLimit(int number) {
    this.number = number;
  }

  /**
   * A limit: {@code struct rlimit { rlim_t rlim_cur; rlim_t rlim_max; }}.
   *
   * @param soft the limit in force
   * @param hard the ceiling for the soft limit
   */
  public record Value(long soft, long hard) {}

  /** The current limit. */
  public Value get(Sys sys) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment rlimit = arena.allocate(JAVA_LONG, 2);
      call("getrlimit", this, () -> sys.getrlimit(number, rlimit));
      return new Value(rlimit.getAtIndex(JAVA_LONG, 0), rlimit.getAtIndex(JAVA_LONG, 1));
    }
  }

  /** Changes the limit. */
  public void set(Sys sys, Value value) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment rlimit = arena.allocateFrom(JAVA_LONG, value.soft(), value.hard());
      call("setrlimit", this + " to " + value, () -> sys.setrlimit(number, rlimit));
    }
  }
}
