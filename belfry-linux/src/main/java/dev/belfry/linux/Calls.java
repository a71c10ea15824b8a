package dev.belfry.linux;

import static dev.belfry.linux.Errno.EINTR;

import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/** Makes a call off the hot path: repeats it if interrupted, throws if it failed. */
final class Calls {
  private Calls() {}

  static int call(String name, Object about, IntSupplier attempt) throws ErrnoException {
    return (int) callLong(name, about, attempt::getAsInt);
  }

  static long callLong(String name, Object about, LongSupplier attempt) throws ErrnoException {
    long result;
    do {
      result = attempt.getAsLong();
    } while (result == -EINTR);
    if (result < 0) {
      throw new ErrnoException(name, (int) -result, about);
    }
    return result;
  }
}
