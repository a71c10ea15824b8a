package dev.belfry.shm;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import java.util.concurrent.locks.LockSupport;

/**
 * What to do when the kernel has no memory or no mapping left. Closed segments stay mapped until
 * the garbage collector finds them unreachable: unmapping them on close would crash the JVM if a
 * thread were accessing them at an unchecked address. So if a call is refused for want of memory,
 * run the collector.
 */
final class Shortage {
  /** How long the collector's helper threads may take to unmap what it has found. */
  private static final long UNMAP_NANOS = 500_000_000;

  private static final long LOOK_NANOS = 1_000_000;

  private Shortage() {}

  /** A call that may be refused. */
  interface Call<T> {
    T make() throws ErrnoException;
  }

  /** Makes a call; on a shortage, makes it again once closed segments have been unmapped. */
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
