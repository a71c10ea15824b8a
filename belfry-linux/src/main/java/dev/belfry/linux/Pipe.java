package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The two ends of a pipe ({@code pipe(2)}); each is closed separately.
 *
 * @param reader where bytes come out
 * @param writer where bytes go in
 */
public record Pipe(Fd reader, Fd writer) {
  private static final int O_NONBLOCK = 0x800;
  private static final int O_CLOEXEC = 0x80000;

  /** Opens a pipe. */
  public static Pipe open(Sys sys, boolean blocking) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment fds = arena.allocate(ValueLayout.JAVA_INT, 2);
      call("pipe2", "", () -> sys.pipe2(fds, O_CLOEXEC | (blocking ? 0 : O_NONBLOCK)));
      return new Pipe(
          Fd.own(sys, fds.getAtIndex(ValueLayout.JAVA_INT, 0), "pipe, read end"),
          Fd.own(sys, fds.getAtIndex(ValueLayout.JAVA_INT, 1), "pipe, write end"));
    }
  }
}
