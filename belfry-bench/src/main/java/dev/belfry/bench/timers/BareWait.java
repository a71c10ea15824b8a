package dev.belfry.bench.timers;

import dev.belfry.linux.Epoll;
import dev.belfry.linux.EpollEvents;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sys;
import java.lang.foreign.Arena;

/** Belfry's {@code epoll_pwait2} on nothing, without a loop: the kernel's own lateness. */
final class BareWait implements Timers {
  private final Epoll epoll = Epoll.create(Sys.forOneThread());
  private final EpollEvents batch = new EpollEvents(Arena.ofAuto(), 1);

  BareWait() throws ErrnoException {}

  @Override
  public long[] lateness(int count, long delayNanos) throws ErrnoException {
    long[] late = new long[count];
    for (int i = 0; i < count; i++) {
      long began = System.nanoTime();
      int events = epoll.await(batch, delayNanos);
      if (events != 0) {
        throw new ErrnoException("epoll_pwait2", -events, "nothing");
      }
      late[i] = System.nanoTime() - began - delayNanos;
    }
    return late;
  }

  @Override
  public void fill(int count) {
    throw new UnsupportedOperationException("a bare wait has no timers");
  }

  @Override
  public Pace armAndCancel(long nanos) {
    throw new UnsupportedOperationException("a bare wait has no timers");
  }

  @Override
  public Pace armAndFire(long nanos) {
    throw new UnsupportedOperationException("a bare wait has no timers");
  }

  @Override
  public void close() {
    epoll.close();
  }
}
