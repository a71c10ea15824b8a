package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;
import static dev.belfry.linux.Errno.EINTR;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Reads signals from a descriptor ({@code signalfd(2)}). A signal that is blocked in every thread
 * stays pending until it is read here; one that some thread has unblocked may be delivered to that
 * thread instead.
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

  /** Opens a non-blocking descriptor, for an event loop. */
  public static SignalFd open(Sys sys, SigSet signals) throws ErrnoException {
    return open(sys, signals, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  /** Opens a blocking descriptor, for a dedicated thread. */
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

  /** Changes the set of signals; a read that is waiting continues with the new set. */
  public void update(SigSet signals) throws ErrnoException {
    signalfd(sys, fd.number(), signals, 0);
  }

  /** The descriptor, to be registered with an event loop. */
  public int number() {
    return fd.number();
  }

  /** The descriptor, for an event loop that takes ownership and closes it. */
  public Fd fd() {
    return fd;
  }

  /**
   * Reads as many pending records as fit. Allocates nothing.
   *
   * @return how many, or {@code -errno}; {@code -EAGAIN} if there is none
   */
  public int read(SignalRecords records) {
    return read(sys, records);
  }

  /** Reads, as {@link #read(SignalRecords)} does, with the system calls of the reading thread. */
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
