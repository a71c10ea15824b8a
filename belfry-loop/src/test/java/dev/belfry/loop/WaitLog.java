package dev.belfry.loop;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.belfry.linux.AllMemory;
import dev.belfry.testkit.SysTap;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;

/** The timeouts of a loop's waits, as passed to the kernel. */
final class WaitLog {
  /** A wait without a timeout. */
  static final long FOREVER = -1;

  private static final long NANOS_PER_SECOND = 1_000_000_000;

  /** In nanoseconds; the fallback waits forever and sets a timer. */
  private final List<Long> timeouts = new CopyOnWriteArrayList<>();

  /** The deadlines that the fallback's timer was set to. */
  private final List<Long> timerDeadlines = new CopyOnWriteArrayList<>();

  private WaitLog() {}

  /** Records every wait from now on. */
  static WaitLog of(SysTap tap) {
    return of(tap, () -> {});
  }

  /** Records every wait from now on, and runs an action before each that may block. */
  static WaitLog of(SysTap tap, Runnable beforeBlocking) {
    var log = new WaitLog();
    tap.script(
        "epollPwait2",
        (_, arguments) -> {
          MemorySegment timeout = (MemorySegment) arguments[3];
          return log.record(timeout.address() == 0 ? FOREVER : nanos(timeout, 0), beforeBlocking);
        });
    tap.script("epollWait", (_, arguments) -> log.record((Integer) arguments[3], beforeBlocking));
    tap.script(
        "ioUringEnter", (_, arguments) -> log.record(enterTimeOut(arguments), beforeBlocking));
    tap.script(
        "timerfdSettime",
        (_, arguments) -> {
          log.timerDeadlines.add(nanos((MemorySegment) arguments[2], 16));
          return OptionalLong.empty();
        });
    return log;
  }

  /** The timeout of an {@code io_uring_enter} call. */
  private static long enterTimeOut(Object[] arguments) {
    if ((int) arguments[2] == 0) {
      return 0;
    }
    long argument = ((MemorySegment) arguments[4]).address();
    if (argument == 0) {
      return FOREVER;
    }
    long timespec = AllMemory.SEGMENT.get(JAVA_LONG, argument + 16);
    return nanos(AllMemory.SEGMENT, timespec);
  }

  /** Whether the wait of a backend has the timeout; otherwise a timer has it. */
  static boolean hasTimeOut(Backend backend) {
    return backend != Backend.EPOLL_TIMERFD;
  }

  /** The calls with which other backends wait. */
  static List<String> otherCalls(Backend backend) {
    return Arrays.stream(Backend.values())
        .filter(other -> other != backend)
        .map(WaitLog::call)
        .toList();
  }

  /** Whether a wait with these arguments would block. */
  static boolean blocks(Backend backend, Object[] arguments) {
    return switch (backend) {
      case EPOLL -> ((MemorySegment) arguments[3]).address() == 0;
      case EPOLL_TIMERFD -> (int) arguments[3] != 0;
      case IO_URING -> enterTimeOut(arguments) != 0;
    };
  }

  /** The system call with which a backend waits. */
  static String call(Backend backend) {
    return switch (backend) {
      case EPOLL -> "epollPwait2";
      case EPOLL_TIMERFD -> "epollWait";
      case IO_URING -> "ioUringEnter";
    };
  }

  private OptionalLong record(long timeout, Runnable beforeBlocking) {
    timeouts.add(timeout);
    if (timeout != 0) {
      beforeBlocking.run();
    }
    return OptionalLong.empty();
  }

  private static long nanos(MemorySegment timespec, long offset) {
    return timespec.get(JAVA_LONG, offset) * NANOS_PER_SECOND
        + timespec.get(JAVA_LONG, offset + Long.BYTES);
  }

  List<Long> timeouts() {
    return timeouts;
  }

  List<Long> timerDeadlines() {
    return timerDeadlines;
  }

  void clear() {
    timeouts.clear();
    timerDeadlines.clear();
  }
}
