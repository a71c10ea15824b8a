package dev.belfry.loop;

import dev.belfry.linux.Sys;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The options of a loop. Each method returns a copy with one of them changed.
 *
 * {@snippet :
 * EventLoop loop = EventLoop.open(LoopOptions.DEFAULT.withBusyPoll(Duration.ofNanos(20_000)));
 * }
 *
 * @param backend the kernel interface, or null for the best available epoll backend
 * @param prefersIoUring whether to use io_uring where it is available, if no backend is given
 * @param busyPoll how long the loop polls before it sleeps; zero, the default, disables busy
 *     polling. Waking a sleeping core takes tens of microseconds, a polling core is fully busy
 * @param bytesPerTurn how many bytes one descriptor may transfer before others get a turn
 * @param operationsPerTurn how many calls one descriptor may make, or connections one listener may
 *     accept, before others get a turn
 * @param systemCalls the system calls, or null for the kernel's; tests count them or make them fail
 */
public record LoopOptions(
    @Nullable Backend backend,
    boolean prefersIoUring,
    Duration busyPoll,
    int bytesPerTurn,
    int operationsPerTurn,
    @Nullable Sys systemCalls) {

  /** The best available epoll, no busy polling, 256 KiB and 64 calls per descriptor and turn. */
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

  /** With the given backend, which must be available; null for the best available epoll. */
  public LoopOptions withBackend(@Nullable Backend backend) {
    return new LoopOptions(backend, false, busyPoll, bytesPerTurn, operationsPerTurn, systemCalls);
  }

  /** With io_uring where this machine allows it, otherwise the best available epoll backend. */
  public LoopOptions withIoUringPreferred() {
    return new LoopOptions(null, true, busyPoll, bytesPerTurn, operationsPerTurn, systemCalls);
  }

  /** With busy polling. */
  public LoopOptions withBusyPoll(Duration busyPoll) {
    return new LoopOptions(
        backend, prefersIoUring, busyPoll, bytesPerTurn, operationsPerTurn, systemCalls);
  }

  /** With other limits per descriptor and turn. */
  public LoopOptions withTurnLimits(int bytes, int operations) {
    return new LoopOptions(backend, prefersIoUring, busyPoll, bytes, operations, systemCalls);
  }

  /** With the given system calls. */
  public LoopOptions withSystemCalls(Sys systemCalls) {
    return new LoopOptions(
        backend, prefersIoUring, busyPoll, bytesPerTurn, operationsPerTurn, systemCalls);
  }
}
