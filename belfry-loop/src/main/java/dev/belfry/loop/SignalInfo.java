package dev.belfry.loop;

import dev.belfry.linux.SignalRecords;
import dev.belfry.linux.Signo;

/**
 * A signal that was received, with what the kernel reports about it ({@code sigaction(2)}).
 *
 * @param signum the signal number
 * @param code how it was sent: 0 by {@code kill}, -1 by {@code sigqueue}, positive by the kernel
 *     itself
 * @param pid the sender's process id, or 0 if it is outside our pid namespace; for CHLD, the
 *     child's
 * @param uid the sender's real user id
 * @param status for CHLD, the child's exit code or the signal that ended it
 * @param errno an error number that came along; usually zero
 * @param value the value given to {@code sigqueue}, as the 64 bits of a pointer
 */
public record SignalInfo(
    int signum, int code, int pid, int uid, int status, int errno, long value) {

  // r[impl sig.await.info]
  static SignalInfo of(SignalRecords records, int index) {
    return new SignalInfo(
        records.signo(index),
        records.code(index),
        records.pid(index),
        records.uid(index),
        records.status(index),
        records.errno(index),
        records.value(index));
  }

  /** The signal's name, such as {@code SIGTERM} or {@code SIGRTMIN+6}. */
  public String name() {
    return Signo.name(signum);
  }

  /** The value, if the sender gave {@code sigqueue} an int. */
  public int intValue() {
    return (int) value;
  }
}
