package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Probes what the kernel's io_uring can do ({@code io_uring_setup(2)}, {@code
 * io_uring_register(2)}), each feature on a ring of its own, which is closed again.
 */
final class IoUringProbe {
  /** Continues after a request that fails; Linux 5.18. Every ring we open sets it. */
  static final int SUBMIT_ALL = 1 << 7;

  static final int SINGLE_ISSUER = 1 << 12;
  static final int DEFER_TASKRUN = 1 << 13;
  static final int NO_SQARRAY = 1 << 16;

  /** Appeared in Linux 5.19 together with multishot accept, which has no feature flag. */
  static final int OP_SOCKET = 45;

  /** Appeared in Linux 6.0 together with multishot recv, which has no feature flag. */
  static final int OP_SEND_ZC = 47;

  static final int OP_FUTEX_WAIT = 51;

  private static final int REGISTER_PROBE = 8;
  private static final int REGISTER_PBUF_RING = 22;
  private static final int PROBED_OPERATIONS = 64;
  private static final int OPERATION_SUPPORTED = 1;

  /** The largest page size of any kernel. */
  private static final int PAGE = 64 * 1024;

  private final Sys sys;

  IoUringProbe(Sys sys) {
    this.sys = sys;
  }

  /** Opens and closes a ring with these flags. */
  void setUp(int flags) throws ErrnoException {
    ring(flags).close();
  }

  private Fd ring(int flags) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment params = arena.allocate(120, Long.BYTES); // struct io_uring_params
      params.set(JAVA_INT, 8, flags); // the third u32
      return Fd.own(sys, call("io_uring_setup", flags, () -> sys.ioUringSetup(2, params)), "ring");
    }
  }

  /** Reads {@code struct io_uring_probe}: 16 bytes, then 8 per operation, flags at offset 2. */
  void operation(int operation) throws ErrnoException {
    try (Fd ring = ring(0);
        Arena arena = Arena.ofConfined()) {
      MemorySegment probe = arena.allocate(16 + 8L * PROBED_OPERATIONS, Long.BYTES);
      register(ring, REGISTER_PROBE, probe, PROBED_OPERATIONS);
      int flags = probe.get(JAVA_BYTE, 16 + 8L * operation + 2);
      if ((flags & OPERATION_SUPPORTED) == 0) {
        throw new ErrnoException("io_uring_register", Errno.EOPNOTSUPP, "operation " + operation);
      }
    }
  }

  /** Registers a ring of one buffer, in a page of its own; it is released with the io_uring. */
  void bufferRing() throws ErrnoException {
    try (Fd ring = ring(0);
        Arena arena = Arena.ofConfined()) {
      MemorySegment registration = arena.allocate(40, Long.BYTES); // u64 address, u32 entries
      registration.set(JAVA_LONG, 0, arena.allocate(PAGE, PAGE).address());
      registration.set(JAVA_INT, 8, 1);
      register(ring, REGISTER_PBUF_RING, registration, 1);
    }
  }

  private void register(Fd ring, int operation, MemorySegment argument, int count)
      throws ErrnoException {
    call(
        "io_uring_register",
        operation,
        () -> sys.ioUringRegister(ring.number(), operation, argument, count));
  }
}
