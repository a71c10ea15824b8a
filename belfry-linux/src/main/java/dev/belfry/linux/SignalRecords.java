package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/**
 * Memory for records read from a {@link SignalFd}, an array of ({@code signalfd(2)}):
 *
 * <pre>{@code
 * struct signalfd_siginfo {
 *   uint32_t ssi_signo;   int32_t  ssi_errno;  int32_t  ssi_code;     uint32_t ssi_pid;
 *   uint32_t ssi_uid;     int32_t  ssi_fd;     uint32_t ssi_tid;      uint32_t ssi_band;
 *   uint32_t ssi_overrun; uint32_t ssi_trapno; int32_t  ssi_status;   int32_t  ssi_int;
 *   uint64_t ssi_ptr;     ...
 *   uint8_t  pad[];       // to 128 bytes
 * };
 * }</pre>
 */
public final class SignalRecords {
  static final StructLayout LAYOUT =
      MemoryLayout.structLayout(
          JAVA_INT.withName("signo"),
          JAVA_INT.withName("errno"),
          JAVA_INT.withName("code"),
          JAVA_INT.withName("pid"),
          JAVA_INT.withName("uid"),
          JAVA_INT.withName("fd"),
          JAVA_INT.withName("tid"),
          JAVA_INT.withName("band"),
          JAVA_INT.withName("overrun"),
          JAVA_INT.withName("trapno"),
          JAVA_INT.withName("status"),
          JAVA_INT.withName("int"),
          JAVA_LONG.withName("ptr"),
          MemoryLayout.paddingLayout(72));

  /** The size of one record. */
  public static final long RECORD_BYTES = LAYOUT.byteSize();

  private static final long SIGNO = offset("signo");
  private static final long ERRNO = offset("errno");
  private static final long CODE = offset("code");
  private static final long PID = offset("pid");
  private static final long UID = offset("uid");
  private static final long STATUS = offset("status");
  private static final long VALUE = offset("ptr");

  private final MemorySegment records;

  /** Allocates room for a number of records. */
  public SignalRecords(Arena arena, int count) {
    records = arena.allocate(LAYOUT, count);
  }

  MemorySegment segment() {
    return records;
  }

  /** The signal number. */
  public int signo(int index) {
    return word(index, SIGNO);
  }

  /** The error number that came with the signal; usually zero. */
  public int errno(int index) {
    return word(index, ERRNO);
  }

  /** How it was sent: 0 by {@code kill}, -1 by {@code sigqueue}; more in {@code sigaction(2)}. */
  public int code(int index) {
    return word(index, CODE);
  }

  /** The sender's process id; 0 if it is outside our pid namespace. */
  public int pid(int index) {
    return word(index, PID);
  }

  /** The sender's real user id. */
  public int uid(int index) {
    return word(index, UID);
  }

  /** For CHLD: the exit code, or the signal that ended the child. */
  public int status(int index) {
    return word(index, STATUS);
  }

  /** The value given to {@code sigqueue}; an {@code int} is in the low half. */
  public long value(int index) {
    return records.get(JAVA_LONG, index * RECORD_BYTES + VALUE);
  }

  private int word(int index, long offset) {
    return records.get(JAVA_INT, index * RECORD_BYTES + offset);
  }

  private static long offset(String field) {
    return LAYOUT.byteOffset(PathElement.groupElement(field));
  }
}
