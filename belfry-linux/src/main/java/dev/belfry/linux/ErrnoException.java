package dev.belfry.linux;

import java.io.IOException;

/** A failed system call. The message names the call, its subject and the error. */
public final class ErrnoException extends IOException {
  private static final long serialVersionUID = 1;

  private final String call;
  private final int errno;

  /**
   * Creates an exception for a failed call.
   *
   * @param call the call's name, as in its manual page
   * @param errno the positive error number
   * @param about the subject of the call: a path, an address, a signal
   */
  public ErrnoException(String call, int errno, Object about) {
    super(call + "(" + about + "): " + Errno.name(errno) + " (" + LibCTexts.error(errno) + ")");
    this.call = call;
    this.errno = errno;
  }

  /** The name of the call that failed. */
  public String call() {
    return call;
  }

  /** The positive error number. */
  public int errno() {
    return errno;
  }

  /** Whether the error number is the given one. */
  public boolean is(int number) {
    return errno == number;
  }
}
