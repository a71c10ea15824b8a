package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;
import static dev.belfry.linux.Errno.EINTR;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Signals as something to read ({@code signalfd(2)}). A signal that is blocked in every thread
 * stays pending until it is read here; one that some thread has unblocked never arrives.
 */
public final class SignalFd implements AutoCloseable {
  private static final int SFD_CLOEXEC = 0x80000;
  private static final int SFD_NONBLOCK = 0x800;

  private final Sys sys;
  private final Fd fd;

  private SignalFd(Sys sys, Fd fd) {
    this.sys = sys;
    this.fd = fd;
  }

  /** A descriptor that never blocks, for an event loop. */
  public static SignalFd open(Sys sys, SigSet signals) throws ErrnoException {
    return open(sys, signals, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  /** A descriptor whose reads wait, for a thread that does nothing else. */
  public static SignalFd openBlocking(Sys sys, SigSet signals) throws ErrnoException {
    return open(sys, signals, SFD_CLOEXEC);
  }

  private static SignalFd open(Sys sys, SigSet signals, int flags) throws ErrnoException {
    return new SignalFd(sys, Fd.own(sys, signalfd(sys, -1, signals, flags), "signals " + signals));
  }

  private static int signalfd(Sys sys, int fd, SigSet signals, int flags) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment set = signals.toNative(arena);
      return call("signalfd", signals, () -> sys.signalfd(fd, set, flags));
    }
  }

  /** Reads other signals from now on; a read that is waiting continues with the new set. */
  public void update(SigSet signals) throws ErrnoException {
    signalfd(sys, fd.number(), signals, 0);
  }

  /** The descriptor, to be registered with an event loop. */
  public int number() {
    return fd.number();
  }

  /** The descriptor, for an event loop that closes it together with what it knows of it. */
  public Fd fd() {
    return fd;
  }

  /**
   * Reads as many records as are there and fit. Allocates nothing.
   *
   * @return how many, or {@code -errno}; {@code -EAGAIN} when there is none
   */
  public int read(SignalRecords records) {
    return read(sys, records);
  }

  /** Reads, as {@link #read(SignalRecords)} does, by the calls of the thread that reads. */
  public int read(Sys ofThread, SignalRecords records) {
    long bytes;
    do {
      bytes = ofThread.read(fd.number(), records.segment(), records.segment().byteSize());
    } while (bytes == -EINTR);
    return (int) (bytes < 0 ? bytes : bytes / SignalRecords.RECORD_BYTES);
  }

  @Override
  public void close() {
    fd.close();
  }
}
