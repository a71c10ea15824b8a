package dev.belfry.linux;

/**
 * How a process ended.
 *
 * @param signalled whether a signal ended it
 * @param number the exit code, or the signal
 * @param coreDumped whether it left a core file
 */
public record ExitStatus(boolean signalled, int number, boolean coreDumped) {
  /** The exit code as a shell reports it: the code itself, or 128 plus the signal. */
  public int shellCode() {
    return signalled ? 128 + number : number;
  }

  @Override
  public String toString() {
    return signalled
        ? "killed by " + Signo.name(number) + (coreDumped ? " (core dumped)" : "")
        : "exit code " + number;
  }
}
