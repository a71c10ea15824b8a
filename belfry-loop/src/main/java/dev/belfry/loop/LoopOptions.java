package dev.belfry.loop;

import dev.belfry.linux.Sys;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a loop is made; each method gives a copy with one thing changed.
 *
 * {@snippet :
 * EventLoop loop = EventLoop.open(LoopOptions.DEFAULT.withBusyPoll(Duration.ofNanos(20_000)));
 * }
 *
 * @param backend the kernel interface, or null for the best epoll there is
 * @param prefersIoUring whether to use io_uring where that works, if no backend was chosen
 * @param busyPoll how long the loop polls before it sleeps; zero, the default, is never. A sleeping
 *     core takes tens of microseconds to wake, a polling one costs its time
 * @param bytesPerTurn how much is read from or written to one descriptor before others get a turn
 * @param operationsPerTurn how many calls are made for one descriptor, or connections accepted from
 *     one listener, before others get a turn
 * @param systemCalls the system calls, or null for the kernel's own; a test counts them or makes
 *     them fail
 */
public record LoopOptions(
    @Nullable Backend backend,
    boolean prefersIoUring,
    Duration busyPoll,
    int bytesPerTurn,
    int operationsPerTurn,
    @Nullable Sys systemCalls) {

  /** The best epoll there is, no busy polling, 256 KiB and 64 calls for a descriptor in a turn. */
  public static final LoopOptions DEFAULT =
      new LoopOptions(null, false, Duration.ZERO, 256 * 1024, 64, null);

  public LoopOptions {
    if (bytesPerTurn < 1 || operationsPerTurn < 1) {
      throw new IllegalArgumentException(
          "a descriptor needs at least one byte and one call a turn, not %d and %d"
              .formatted(bytesPerTurn, operationsPerTurn));
    }
    if (busyPoll.isNegative()) {
      throw new IllegalArgumentException("a loop cannot poll for " + busyPoll);
    }
  }

  /** With the given backend, which must be available; null for the best epoll there is. */
  public LoopOptions withBackend(@Nullable Backend backend) {
    return new LoopOptions(backend, false, busyPoll, bytesPerTurn, operationsPerTurn, systemCalls);
  }

  /** With io_uring where this machine allows it, else the best epoll there is. */
  public LoopOptions withIoUringPreferred() {
    return new LoopOptions(null, true, busyPoll, bytesPerTurn, operationsPerTurn, systemCalls);
  }

  /** With busy polling. */
  public LoopOptions withBusyPoll(Duration busyPoll) {
    return new LoopOptions(
        backend, prefersIoUring, busyPoll, bytesPerTurn, operationsPerTurn, systemCalls);
  }

  /** With other limits for one descriptor in a turn. */
  public LoopOptions withTurnLimits(int bytes, int operations) {
    return new LoopOptions(backend, prefersIoUring, busyPoll, bytes, operations, systemCalls);
  }

  /** With the given system calls. */
  public LoopOptions withSystemCalls(Sys systemCalls) {
    return new LoopOptions(
        backend, prefersIoUring, busyPoll, bytesPerTurn, operationsPerTurn, systemCalls);
  }
}
