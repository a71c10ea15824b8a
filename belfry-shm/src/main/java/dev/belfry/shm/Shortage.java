package dev.belfry.shm;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import java.util.concurrent.locks.LockSupport;

/**
 * What to do when the kernel has no memory or no mapping left: segments that were closed keep
 * theirs until the garbage collector has found that nobody can use them any more. To unmap them at
 * their close would end the JVM if a thread was just reading there, by an address that nothing
 * checks. So whoever is refused for want of them calls the collector.
 */
final class Shortage {
  /** How long the collector's helpers may take to unmap what it has found. */
  private static final long UNMAP_NANOS = 500_000_000;

  private static final long LOOK_NANOS = 1_000_000;

  private Shortage() {}

  /** A call that may be refused. */
  interface Call<T> {
    T make() throws ErrnoException;
  }

  /** Makes a call; if there is too little for it, again when what was closed has been unmapped. */
  // r[impl shm.file.unmap]
  static <T> T outlast(Call<T> call) throws ErrnoException {
    try {
      return call.make();
    } catch (ErrnoException e) {
      if (!isShortage(e)) {
        throw e;
      }
    }
    System.gc();
    long end = System.nanoTime() + UNMAP_NANOS;
    while (true) {
      try {
        return call.make();
      } catch (ErrnoException e) {
        if (!isShortage(e) || System.nanoTime() - end > 0) {
          throw e;
        }
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private static boolean isShortage(ErrnoException e) {
    return e.is(Errno.ENOMEM) || e.is(Errno.ENOSPC);
  }
}
