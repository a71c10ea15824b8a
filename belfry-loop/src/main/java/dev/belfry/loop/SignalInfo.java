package dev.belfry.loop;

import dev.belfry.linux.SignalRecords;
import dev.belfry.linux.Signo;

/**
 * A signal that was received, with what the kernel says about it ({@code sigaction(2)}).
 *
 * @param signum the signal's number
 * @param code how it was sent: 0 by {@code kill}, -1 by {@code sigqueue}, a positive number by the
 *     kernel itself
 * @param pid the sender's process id; 0 if it is outside our pid namespace. For CHLD the child's
 * @param uid the sender's real user id
 * @param status for CHLD: the child's exit code, or the signal that ended it
 * @param errno an error number that came along; usually zero
 * @param value what was given to {@code sigqueue}, as a pointer's 64 bits
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

  /** The value of a sender who gave {@code sigqueue} an int. */
  public int intValue() {
    return (int) value;
  }
}
