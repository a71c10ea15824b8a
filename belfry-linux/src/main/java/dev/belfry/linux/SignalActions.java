package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** What happens when a signal is delivered ({@code sigaction(2)}), for the whole process. */
public final class SignalActions {
  /** More than {@code struct sigaction} needs; all zero means {@code SIG_DFL} without flags. */
  private static final long SIGACTION_BYTES = 256;

  private SignalActions() {}

  /** Gives these signals their default action; a handler set by the JVM would be lost. */
  public static void restoreDefault(Sys sys, SigSet signals) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment action = arena.allocate(SIGACTION_BYTES, Long.BYTES);
      for (int signal : signals.signals().toArray()) {
        call(
            "sigaction",
            Signo.name(signal),
            () -> sys.sigaction(signal, action, MemorySegment.NULL));
      }
    }
  }
}
